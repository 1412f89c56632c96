import Foundation
import Quire

@Model
final class ChatMessage {
  var text: String
  var sentAt: Date
  var status: Status
  var role: String
  var reactions: [String: Int] = [:]
  var replyTo: ChatMessage?
  var conversation: Conversation?
  var sender: ChatUser?

  @Attribute(.ephemeral) var isSending: Bool = false

  init(_ text: String, sender: ChatUser? = nil, sentAt: Date = Date(), status: Status = .sent, role: Role = .user) {
    self.text = text
    self.sender = sender
    self.sentAt = sentAt
    self.status = status
    self.role = role.rawValue
  }

  enum Status: String, Codable { case pending, sent, read, failed }
  enum Role: String, Codable { case user, assistant, system }
}
