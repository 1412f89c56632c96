/// How a live result is kept up to date and why, which changes wake it, what a change costs, and which index would
/// help.
///
///     print(try context.explainLive(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 20))
///
/// A value for the tables and indexes at the moment of the call. Names are those of the file: tables, columns, and in
/// plans the aliases of the statement.
public struct LiveExplanation: Hashable, Sendable, Codable {
  /// What is kept: `the first 20 rows of book`.
  public let subject: String
  /// How the result is kept up to date.
  public let strategy: Strategy
  /// The reasons for the strategy: sentences without a capital or a period.
  public let reasons: [String]
  /// The changes that wake it; all others cost nothing.
  public let wakes: [Wake]
  /// The cost of one commit that changes rows of a table, however many.
  public let costs: [Cost]
  /// The statements it may run, and how SQLite would run them.
  public let statements: [Statement]

  /// How a live result is kept up to date, cheapest first.
  public enum Strategy: String, Hashable, Sendable, Codable {
    /// Updated by the values of the changed rows; statements are the exception.
    case incremental
    /// Updated by reading the changed rows, by key or by group.
    case requerying
    /// Read again as a whole when something that it reads has changed.
    case rerunning
  }

  /// Changes of one table.
  public struct Wake: Hashable, Sendable, Codable {
    /// The table whose changes can wake it.
    public let table: String
    /// An update that changes none of them does not wake it; nil stands for every column.
    public let columns: [String]?
    /// It wakes only for rows that have the requested values in these columns, before or after the change.
    public let equalities: [String]

    /// A wake as it is shown; for tests and tools. Changes nothing.
    public init(table: String, columns: [String]?, equalities: [String] = []) {
      self.table = table
      self.columns = columns
      self.equalities = equalities
    }
  }

  /// The cost of changes of one table.
  public struct Cost: Hashable, Sendable, Codable {
    /// The table whose changes have this cost.
    public let table: String
    /// The number of statements for one commit that changes rows of the table that affect the result.
    public let statements: Int
    /// The cost in a few words, such as “it is judged by its values”.
    public let words: String
  }

  init(
    _ subject: String, _ strategy: Strategy, because reasons: [String], wakes: [Wake], costs: [Cost],
    statements: [Statement]
  ) {
    self.subject = subject
    self.strategy = strategy
    self.reasons = reasons
    self.wakes = wakes
    self.costs = costs
    self.statements = statements
  }

  /// Of a result that is read again whenever a table it reads changes.
  init(rerunning subject: String, because reason: String, wakes: [Wake], statement: Statement) {
    self.init(
      subject, .rerunning, because: [reason], wakes: wakes,
      costs: wakes.map { Cost(table: $0.table, statements: 1, words: "it is run again") }, statements: [statement])
  }

  /// Statements that are run when rows change and would scan a table, each with the index that would help; empty if no
  /// change costs more than its own size.
  public var warnings: [String] { statements.compactMap(\.warning) }

  /// The indexes that would help, ready to run.
  public var indexes: [String] {
    var seen: Set<String> = []
    return statements.compactMap(\.index).filter { seen.insert($0).inserted }
  }
}
