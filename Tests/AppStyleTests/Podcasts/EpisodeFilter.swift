import Foundation
import Quire

enum EpisodeFilter: Hashable, CaseIterable {
  case all, unplayed, downloaded, long

  var predicate: Predicate<Episode> {
    switch self {
    case .all: return #Predicate { _ in true }
    case .unplayed:
      let played = Episode.PlayState.played
      return #Predicate { $0.state != played }
    case .downloaded: return #Predicate { $0.download != nil }
    case .long:
      let limit: TimeInterval = 60 * 60
      return #Predicate<Episode> { episode in
        if let download = episode.download {
          return download.bytes > 0 && episode.duration > limit
        } else {
          return episode.duration > limit
        }
      }
    }
  }
}

extension ModelContext {
  func episodes(_ filter: EpisodeFilter, matching text: String = "") throws -> [Episode] {
    let base = filter.predicate
    let predicate = #Predicate<Episode> { episode in
      base.evaluate(episode) && (text.isEmpty || episode.title.localizedStandardContains(text))
    }
    return try fetch(FetchDescriptor(predicate: predicate, sortBy: [.init(\.publishedAt, order: .reverse)]))
  }
}
