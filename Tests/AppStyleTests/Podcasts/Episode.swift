import Foundation
import Quire

@Model
public final class Episode {
  #Index<Episode>([\.publishedAt], [\.guid])

  @Attribute(.unique) public var guid: String
  public var title: String
  public var publishedAt: Date
  public var duration: TimeInterval
  public var playhead: TimeInterval = 0
  public var state: PlayState = PlayState.new
  public var podcast: Podcast?
  @Relationship(deleteRule: .cascade) public var download: EpisodeDownload?
  public var chapters: [Chapter] = []

  public init(guid: String, title: String, publishedAt: Date, duration: TimeInterval) {
    self.guid = guid
    self.title = title
    self.publishedAt = publishedAt
    self.duration = duration
  }

  public var progress: Double { duration > 0 ? min(1, playhead / duration) : 0 }

  public enum PlayState: String, Codable, CaseIterable, Sendable { case new, playing, played }
  public struct Chapter: Codable, Hashable, Sendable {
    public var start: TimeInterval
    public var title: String
  }
}

@Model
public final class EpisodeDownload {
  public var path: String
  public var bytes: Int64
  @Relationship(inverse: \Episode.download) public var episode: Episode?

  public init(path: String, bytes: Int64) {
    self.path = path
    self.bytes = bytes
  }
}
