public import Foundation
import QuireRow

/// Expressions that stay in the process that made them: Foundation requires all expressions to be `Codable`.
///
/// Encoding one throws, as does decoding.
public protocol _UnarchivedExpression: StandardPredicateExpression {}

extension _UnarchivedExpression {
  public func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self, .init(codingPath: encoder.codingPath, debugDescription: "it holds code, which no archive does"))
  }

  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "it holds code, which no archive does"))
  }
}

#if !canImport(Darwin)
  extension PredicateExpressions {
    /// Another predicate, evaluated on the same row or on one it leads to.
    public struct _NestedPredicate<Input: PredicateExpression>: PredicateExpression, CustomStringConvertible {
      /// Its result type.
      public typealias Output = Bool
      package let predicate: Predicate<Input.Output>
      package let input: Input

      /// Its value in Swift, for one row.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try predicate.evaluate(try input.evaluate(bindings))
      }

      public var description: String { "NestedPredicate(predicate: \(predicate), input: \(input))" }
    }

    /// Another expression, evaluated on the same row or on one it leads to.
    public struct _NestedExpression<Input: PredicateExpression, Output>: PredicateExpression, CustomStringConvertible {
      package let expression: Expression<Input.Output, Output>
      package let input: Input

      /// Its value in Swift, for one row.
      public func evaluate(_ bindings: PredicateBindings) throws -> Output {
        try expression.evaluate(try input.evaluate(bindings))
      }

      public var description: String { "NestedExpression(expression: \(expression), input: \(input))" }
    }

    /// Written by `#Predicate`: `evaluate` of a predicate or an expression.
    public static func build_evaluate<Input>(_ predicate: Predicate<Input.Output>, _ input: Input)
      -> _NestedPredicate<Input>
    {
      _NestedPredicate(predicate: predicate, input: input)
    }

    /// Written by `#Predicate`: `evaluate` of a predicate or an expression.
    public static func build_evaluate<Input, Output>(_ expression: Expression<Input.Output, Output>, _ input: Input)
      -> _NestedExpression<Input, Output>
    {
      _NestedExpression(expression: expression, input: input)
    }
  }

  extension PredicateExpressions._NestedPredicate: Sendable where Input: Sendable {}
  extension PredicateExpressions._NestedPredicate: Encodable, Decodable where Input: StandardPredicateExpression {}
  extension PredicateExpressions._NestedPredicate: StandardPredicateExpression, _UnarchivedExpression
  where Input: StandardPredicateExpression {}

  extension PredicateExpressions._NestedExpression: Sendable where Input: Sendable {}
  extension PredicateExpressions._NestedExpression: Encodable, Decodable where Input: StandardPredicateExpression {}
  extension PredicateExpressions._NestedExpression: StandardPredicateExpression, _UnarchivedExpression
  where Input: StandardPredicateExpression {}

  extension PredicateExpressions._NestedPredicate: TranslatableExpression {
    func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
      let inner = translation.evaluating(
        predicate.variable, for: try translation.term(of: input), called: translation.words(input))
      return try inner.term(of: predicate.expression)
    }
    func words(in translation: Translation) -> String { "a predicate.evaluate(\(translation.words(input)))" }
  }

  extension PredicateExpressions._NestedExpression: TranslatableExpression {
    func term(in translation: Translation) throws(UntranslatablePredicate) -> Term {
      let inner = translation.evaluating(
        expression.variable, for: try translation.term(of: input), called: translation.words(input))
      return try inner.term(of: expression.expression)
    }
    func words(in translation: Translation) -> String { "an expression.evaluate(\(translation.words(input)))" }
  }
#endif
