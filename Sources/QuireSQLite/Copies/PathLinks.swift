internal import Foundation

/// Where a path leads by the links on its way.
package enum PathLinks {
  /// The path, and what it leads to from link to link, as many as Linux follows.
  package static func places(from path: String) -> [String] {
    var places = [path]
    while places.count <= 40, let place = places.last,
      let next = try? FileManager.default.destinationOfSymbolicLink(atPath: place)
    {
      places.append(next.hasPrefix("/") ? next : FileObstacle.folderName(of: place) + "/" + next)
    }
    return places
  }

  /// The descriptor of this process that `/dev/stdout`, `/proc/self/fd/3` or a link to these names; nil of other paths.
  ///
  /// If the path is opened, a plain file is read from its beginning, and written at a place of its own, which others that have
  /// the descriptor do not know: they write over it.
  package static func descriptor(of path: String) -> Int32? {
    let folders = ["/dev/fd/", "/proc/self/fd/", "/proc/\(getpid())/fd/"]
    for place in places(from: path) {
      if let folder = folders.first(where: place.hasPrefix) { return Int32(place.dropFirst(folder.count)) }
    }
    return nil
  }
}
