import Foundation
import Quire

enum NoteSortOption: String, CaseIterable {
  case title, updated

  var descriptors: [SortDescriptor<NoteItem>] {
    switch self {
    case .title: [SortDescriptor(\NoteItem.title), SortDescriptor(\.createdAt)]
    case .updated: [SortDescriptor(\NoteItem.updatedAt, order: .reverse)]
    }
  }
}

extension NoteItem {
  static func predicate(searchText: String, onlyPinned: Bool) -> Predicate<NoteItem> {
    #Predicate<NoteItem> { note in
      (searchText.isEmpty || note.title.localizedStandardContains(searchText)
        || note.body.localizedStandardContains(searchText)) && (!onlyPinned || note.isPinned)
    }
  }

  static func descriptor(in folder: NoteFolder, sortedBy sort: NoteSortOption) -> FetchDescriptor<NoteItem> {
    let folderID = folder.persistentModelID
    var descriptor = FetchDescriptor<NoteItem>(
      predicate: #Predicate { $0.folder?.persistentModelID == folderID }, sortBy: sort.descriptors)
    descriptor.relationshipKeyPathsForPrefetching = [\.tags]
    descriptor.fetchLimit = 50
    return descriptor
  }
}
