import Foundation
import Quire

@Model
final class NoteTag {
  #Unique<NoteTag>([\.name])
  #Index<NoteTag>([\.name])

  var name: String
  var notes: [NoteItem] = []

  init(name: String) { self.name = name }
}

@Model
final class NoteAttachment {
  var fileName: String
  var url: URL?
  @Attribute(.externalStorage) var data: Data?
  var kind: Kind
  var note: NoteItem?

  init(fileName: String, kind: Kind, data: Data? = nil) {
    self.fileName = fileName
    self.kind = kind
    self.data = data
  }

  enum Kind: Codable, Equatable {
    case image(width: Int, height: Int)
    case audio(seconds: Double)
    case other
  }
}
