import Foundation
import Quire

struct BudgetSummary: Equatable {
  let total: Decimal
  let byCategory: [String: Decimal]
}

final class BudgetService {
  private let context: ModelContext

  init(context: ModelContext) { self.context = context }

  func entries(from start: Date, to end: Date, kind: EntryKind? = nil) throws -> [BudgetEntry] {
    var descriptor = FetchDescriptor<BudgetEntry>(
      predicate: #Predicate { entry in entry.date >= start && entry.date < end },
      sortBy: [SortDescriptor(\.date, order: .reverse)])
    descriptor.includePendingChanges = true
    let all = try context.fetch(descriptor)
    return kind.map { kind in all.filter { $0.kind == kind } } ?? all
  }

  func summary(from start: Date, to end: Date) throws -> BudgetSummary {
    let entries = try entries(from: start, to: end, kind: .expense)
    let groups = Dictionary(grouping: entries) { $0.category?.name ?? "Other" }
    return BudgetSummary(
      total: entries.reduce(0) { $0 + $1.amount },
      byCategory: groups.mapValues { $0.reduce(0) { $0 + $1.amount } })
  }
}
