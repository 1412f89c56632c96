public import QuireRow

extension _Quire {
  /// Classes whose objects equal only themselves.
  public protocol SameObject: AnyObject, Equatable {}
}

extension _Quire.SameObject {
  public static func == (a: Self, b: Self) -> Bool { a === b }
}

// As in SwiftData, where code compares the context of two objects.

extension ModelContext: _Quire.SameObject {}
extension ModelContainer: _Quire.SameObject {}
