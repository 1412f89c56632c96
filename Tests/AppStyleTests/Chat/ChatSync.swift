import Foundation
import Quire

struct MessagePayload: Sendable, Codable {
  let text: String
  let handle: String
  let sentAt: Date
}

actor ChatSync: ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor

  init(container: ModelContainer) {
    modelContainer = container
    let context = ModelContext(container)
    context.autosaveEnabled = false
    modelExecutor = DefaultSerialModelExecutor(modelContext: context)
  }

  func receive(_ payloads: [MessagePayload], in conversationID: Int64) throws {
    let existing = try modelContext.fetch(
      FetchDescriptor<Conversation>(predicate: #Predicate { $0.remoteID == conversationID }))
    let conversation = existing.first ?? Conversation(remoteID: conversationID)
    if existing.isEmpty { modelContext.insert(conversation) }
    try modelContext.transaction {
      for payload in payloads {
        let handle = payload.handle
        let users = try modelContext.fetch(FetchDescriptor<ChatUser>(predicate: #Predicate { $0.handle == handle }))
        let user = users.first ?? ChatUser(handle: handle, displayName: handle.capitalized)
        conversation.messages.append(ChatMessage(payload.text, sender: user, sentAt: payload.sentAt))
        if !conversation.members.contains(user) { conversation.members.append(user) }
      }
      conversation.lastActivity = payloads.map(\.sentAt).max() ?? .now
    }
  }
}
