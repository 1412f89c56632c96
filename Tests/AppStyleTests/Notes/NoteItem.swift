import Foundation
import Quire

@Model
final class NoteItem {
  var title: String = ""
  var body: String = ""
  var createdAt: Date = Date()
  var updatedAt: Date = Date()
  var isPinned: Bool = false
  var colorHex: String? = nil
  var folder: NoteFolder?
  @Relationship(inverse: \NoteTag.notes) var tags: [NoteTag]?
  @Relationship(deleteRule: .cascade, inverse: \NoteAttachment.note) var attachments: [NoteAttachment]? = []

  init(title: String, body: String = "", folder: NoteFolder? = nil) {
    self.title = title
    self.body = body
    self.folder = folder
  }

  var wordCount: Int { body.split(separator: " ").count }

  func touch() { updatedAt = .now }
}
