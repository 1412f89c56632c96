public import Foundation

extension _Quire {
  /// An error whose description says what, where and what to do next, and which is shown to users with all of it.
  public protocol DescribedError: LocalizedError, CustomStringConvertible {}
}

extension _Quire.DescribedError {
  /// The whole text, which `localizedDescription` gives too.
  public var errorDescription: String? { description }
}

extension AggregateError: _Quire.DescribedError {}
extension IdentifierError: _Quire.DescribedError {}
extension QueryError: _Quire.DescribedError {}
extension ValueError: _Quire.DescribedError {}
