import Foundation
import QuireRow
import QuireSQLite

/// That the program has every kind of expression. A kind is found by its conformance, which is looked for while the program
/// runs. A linker takes from a static archive the files that are referred to, and would leave out one that has conformances
/// alone: the predicates that need it would be refused. Here one kind of each file is referred to.
extension Translation {
  private typealias Numbers = PredicateExpressions.Value<Int>
  private typealias Texts = PredicateExpressions.Value<String>
  private typealias Conditions = PredicateExpressions.Value<Bool>
  private typealias Lists = PredicateExpressions.Value<[Int]>

  private static var kinds: [any TranslatableExpression.Type] {
    [
      standardContains,
      PredicateExpressions.Conjunction<Conditions, Conditions>.self,
      PredicateExpressions.KeyPath<Texts, Int>.self,
      PredicateExpressions.Arithmetic<Numbers, Numbers>.self,
      PredicateExpressions.SequenceContains<Lists, Numbers>.self,
      PredicateExpressions._StringHasSuffix<Texts, Texts>.self,
      PredicateExpressions._ShiftedDate<PredicateExpressions.Value<Date>, PredicateExpressions.Value<Double>>.self,
      PredicateExpressions._Path<Texts, Int>.self,
      PredicateExpressions._OrEmpty<PredicateExpressions.Value<[Int]?>, Int>.self,
      PredicateExpressions._Captured<Int>.self,
      PredicateExpressions._Present<Numbers>.self,
    ]
  }
  #if canImport(Darwin)
    private static var standardContains: any TranslatableExpression.Type { Texts.self }
  #else
    private static var standardContains: any TranslatableExpression.Type {
      PredicateExpressions._StringLocalizedStandardContains<Texts, Texts>.self
    }
  #endif
  private static var formed: any FormedExpression.Type { Numbers.self }

  /// The errors whose causes and texts are found in the same way, by files that have nothing else.
  private static var errors: [any QuireError.Type] { [ModelError.self, DatabaseError.self] }

  private static let isLinkedWhole =
    errors.allSatisfy { ($0 as Any.Type) is any QuireError.Type }
    && kinds.allSatisfy { ($0 as Any.Type) is any TranslatableExpression.Type }
    && (formed as Any.Type) is any FormedExpression.Type

  /// - Throws: ``ModelError/query(_:)`` if the program was linked without a part of this module.
  static func checkLinked() throws(ModelError) {
    if isLinkedWhole { return }
    throw .query(
      "this program was linked without parts of Quire that translate predicates. Nothing was opened; link all objects of a "
        + "static library, as with -Wl,--whole-archive")
  }
}
