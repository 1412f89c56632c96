import Foundation
import Quire

@Model
final class Conversation {
  @Attribute(.unique) var remoteID: Int64
  var title: String?
  var lastActivity: Date
  var isMuted: Bool = false
  @Relationship(deleteRule: .cascade, inverse: \ChatMessage.conversation) var messages: [ChatMessage] = []
  @Relationship(inverse: \ChatUser.conversations) var members: [ChatUser] = []

  init(remoteID: Int64, title: String? = nil, lastActivity: Date = .now) {
    self.remoteID = remoteID
    self.title = title
    self.lastActivity = lastActivity
  }

  var sortedMessages: [ChatMessage] { messages.sorted { $0.sentAt < $1.sentAt } }
}
