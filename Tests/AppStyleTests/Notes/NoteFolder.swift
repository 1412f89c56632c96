import Foundation
import Quire

@Model
final class NoteFolder {
  var name: String
  var parent: NoteFolder?
  @Relationship(deleteRule: .cascade, inverse: \NoteFolder.parent) var children: [NoteFolder] = []
  @Relationship(deleteRule: .nullify, inverse: \NoteItem.folder) var notes: [NoteItem] = []
  var sortIndex: Int = 0

  init(_ name: String, parent: NoteFolder? = nil) {
    self.name = name
    self.parent = parent
  }

  var path: String { parent.map { $0.path + "/" + name } ?? name }
}
