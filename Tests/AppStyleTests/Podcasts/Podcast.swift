import Foundation
import Quire

@Model
public final class Podcast {
  @Attribute(.unique) public var feedURL: URL
  public var title: String
  public var author: String?
  public var summary: String
  public var isSubscribed: Bool
  public var settings: Settings
  @Relationship(deleteRule: .cascade, inverse: \Episode.podcast) public var episodes: [Episode]? = []

  public init(feedURL: URL, title: String, author: String? = nil, summary: String = "") {
    self.feedURL = feedURL
    self.title = title
    self.author = author
    self.summary = summary
    self.isSubscribed = true
    self.settings = Settings()
  }

  public struct Settings: Codable, Hashable, Sendable {
    public var playbackRate: Float = 1
    public var skipIntro: Int = 0
    public var notifies = true
    public init() {}
  }
}
