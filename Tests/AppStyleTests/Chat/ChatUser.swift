import Foundation
import Quire

@Model
final class ChatUser: Codable {
  @Attribute(.unique) var handle: String
  var displayName: String
  var avatarURL: URL?
  var conversations: [Conversation] = []

  init(handle: String, displayName: String, avatarURL: URL? = nil) {
    self.handle = handle
    self.displayName = displayName
    self.avatarURL = avatarURL
  }

  enum CodingKeys: String, CodingKey {
    case handle
    case displayName = "display_name"
    case avatarURL = "avatar_url"
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    handle = try container.decode(String.self, forKey: .handle)
    displayName = try container.decode(String.self, forKey: .displayName)
    avatarURL = try container.decodeIfPresent(URL.self, forKey: .avatarURL)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(handle, forKey: .handle)
    try container.encode(displayName, forKey: .displayName)
    try container.encodeIfPresent(avatarURL, forKey: .avatarURL)
  }
}
