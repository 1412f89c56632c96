/// How a live result is kept, why so, what wakes it, what a change costs, and which index would help.
///
///     print(try context.explainLive(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 20))
///
/// A value made when it is asked for: it speaks of the tables and indexes of that moment. Names are those of the file:
/// tables, columns, and in plans the aliases of the statement.
public struct LiveExplanation: Hashable, Sendable, Codable {
  /// What is kept: `the first 20 rows of book`.
  public let subject: String
  public let strategy: Strategy
  /// Why that strategy: sentences without a capital or a period.
  public let reasons: [String]
  /// Which changes wake it; all others cost it nothing.
  public let wakes: [Wake]
  /// What one commit costs that changes rows of a table, however many rows.
  public let costs: [Cost]
  /// What it may run, and how SQLite would run it.
  public let statements: [Statement]

  public enum Strategy: String, Hashable, Sendable, Codable {
    /// By the values of the rows that changed; statements are the exception.
    case incremental
    /// By what changed, for which it asks by key or by group.
    case requerying
    /// The whole again, when something changed that it reads.
    case rerunning
  }

  /// Changes of one table.
  public struct Wake: Hashable, Sendable, Codable {
    public let table: String
    /// An update that leaves all of them as they were wakes nobody; nil is every column.
    public let columns: [String]?
    /// Only rows wake it that have in these columns, before or after, the values it asks for.
    public let equalities: [String]

    public init(table: String, columns: [String]?, equalities: [String] = []) {
      self.table = table
      self.columns = columns
      self.equalities = equalities
    }
  }

  /// What changes of one table cost.
  public struct Cost: Hashable, Sendable, Codable {
    public let table: String
    /// How many statements one commit takes that changes rows of the table which concern it.
    public let statements: Int
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

  /// Of something that is run again whenever a table it reads changes.
  init(rerunning subject: String, because reason: String, wakes: [Wake], statement: Statement) {
    self.init(
      subject, .rerunning, because: [reason], wakes: wakes,
      costs: wakes.map { Cost(table: $0.table, statements: 1, words: "it is run again") }, statements: [statement])
  }

  /// Statements that are run as rows change and would read a whole table, each with the index that would help: empty
  /// where every change costs what it did.
  public var warnings: [String] { statements.compactMap(\.warning) }

  /// The indexes that would help, ready to run.
  public var indexes: [String] {
    var seen: Set<String> = []
    return statements.compactMap(\.index).filter { seen.insert($0).inserted }
  }
}
