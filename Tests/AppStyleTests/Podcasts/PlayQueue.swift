import Foundation
import Quire

@Model
final class PlayQueue {
  var name: String = "Up Next"
  @Relationship(deleteRule: .cascade, inverse: \QueueEntry.queue) var entries: [QueueEntry] = []

  init() {}

  func append(_ episode: Episode) {
    let last = entries.map(\.position).max() ?? -1
    entries.append(QueueEntry(episode: episode, position: last + 1))
  }

  var ordered: [Episode] { entries.sorted { $0.position < $1.position }.compactMap(\.episode) }
}

@Model
final class QueueEntry {
  var position: Int
  var episode: Episode?
  var queue: PlayQueue?

  init(episode: Episode, position: Int) {
    self.position = position
    self.episode = episode
  }
}
