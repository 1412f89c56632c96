import Foundation
import Quire

@MainActor
enum NotePreview {
  static let container: ModelContainer = {
    let schema = Schema([NoteItem.self, NoteFolder.self, NoteTag.self])
    let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    do {
      let container = try ModelContainer(for: schema, configurations: [configuration])
      for note in samples { container.mainContext.insert(note) }
      return container
    } catch {
      fatalError("Could not create the preview container: \(error)")
    }
  }()

  static var samples: [NoteItem] {
    let work = NoteFolder("Work")
    let home = NoteFolder("Home")
    let list = NoteItem(title: "Groceries", body: "milk bread salt", folder: home)
    list.tags = [NoteTag(name: "list"), NoteTag(name: "weekly")]
    let plan = NoteItem(title: "Plan", body: "ship it", folder: work)
    plan.isPinned = true
    plan.attachments = [NoteAttachment(fileName: "chart.png", kind: .image(width: 640, height: 480))]
    return [list, plan]
  }
}
