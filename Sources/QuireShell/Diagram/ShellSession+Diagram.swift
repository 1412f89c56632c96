extension ShellSession {
  /// The words of `.schema [X] --diagram [--svg]`; nil where no diagram is asked for.
  struct DiagramRequest {
    /// The model around which it is, or empty for all.
    var name: String
    var isPicture: Bool

    init?(_ argument: String, isPicture: Bool = false) {
      let words = argument.split(separator: " ")
      let options = words.filter { $0 == "--diagram" || $0 == "--svg" }
      if options.isEmpty { return nil }
      name = words.filter { !options.contains($0) }.joined(separator: " ")
      self.isPicture = isPicture || options.contains("--svg")
    }
  }

  /// A diagram of the file's models: text for Mermaid, or an SVG document.
  ///
  /// - Parameter width: How many cells a text takes in the picture.
  func diagramLines(_ request: DiagramRequest, width: @escaping (String) -> Int) throws(ShellFailure) -> [String] {
    let models = models
    var place: Int?
    if !request.name.isEmpty {
      let name = try find(request.name).name
      place = models.all.firstIndex { $0.name == name }
    }
    let diagram = ModelDiagram(models, around: place)
    if diagram.boxes.isEmpty { throw ShellFailure("no models: the file has no tables", .usage) }
    return request.isPicture ? diagram.svg(width: width) : diagram.mermaid
  }
}
