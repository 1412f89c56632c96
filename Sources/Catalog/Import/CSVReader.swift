/// Reads a CSV file record by record, strictly by RFC 4180, holding one chunk and one record at a time.
///
/// Fields are separated by the delimiter; in a quoted field delimiters and line breaks are text, and a quote is
/// doubled. Lines end with LF or CR LF, which the last one may lack; a byte order mark is skipped. A violation of these
/// rules is an error with its line, because the beginning of the next record is then unknown. An empty line is a record
/// of one empty field, and records may differ in their number of fields: the caller decides what to accept.
///
///     var reader = try CSVReader(file: "books.csv")
///     while let record = try reader.next() { print(record.line, record.text(0) ?? "not UTF-8") }
///
/// - Complexity: O(bytes); a field's text is decoded only when it is read.
public struct CSVReader {
  public var file: String { input.file }
  /// Size of the file, if known.
  public var byteCount: Int? { input.byteCount }
  /// Bytes of the records given so far.
  public var bytesRead: Int { bytesBefore + position }
  public let delimiter: UInt8
  /// The names of the first line.
  public private(set) var header: [String] = []

  private let input: CSVInput
  private let limitInBytes: Int
  private var chunk: [UInt8]
  private var position = 0
  private var bytesBefore = 0
  private var line = 1
  private var number = 0

  /// Opens `file` and reads its header.
  ///
  /// - Parameters:
  ///   - delimiter: If nil, whichever of `,` `;` and tab is most frequent in the first line.
  ///   - limitInBytes: The largest size of one record; without a limit, one missing quote would read the whole file
  ///     into memory.
  public init(file: String, delimiter: UInt8? = nil, limitInBytes: Int = 16 << 20) throws(CSVError) {
    input = try CSVInput(file: file)
    self.limitInBytes = limitInBytes
    chunk = try input.next()
    // Pipes return few bytes at a time; the byte order mark has three.
    while (1..<3).contains(chunk.count) {
      let more = try input.next()
      if more.isEmpty { break }
      chunk += more
    }
    if chunk.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    self.delimiter = delimiter ?? Self.delimiter(of: chunk)
    guard let record = try next(), !record.isBlankLine else { throw .empty(file: file) }
    for index in 0..<record.count {
      guard let name = record.text(index) else { throw .headerNotUTF8(file: file) }
      header.append(name)
    }
    number = 0
  }

  private static func delimiter(of chunk: [UInt8]) -> UInt8 {
    let line = chunk.prefix { $0 != 10 }
    let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), 9]
    let counts = candidates.map { candidate in line.count { $0 == candidate } }
    return counts[1] > counts[0] || counts[2] > counts[0] ? (counts[1] >= counts[2] ? candidates[1] : 9) : candidates[0]
  }

  private enum State { case fieldStart, unquoted, quoted, quoteInQuoted, carriageReturn }

  /// The next record, nil at the end of the file.
  public mutating func next() throws(CSVError) -> CSVRecord? {
    guard try fill() else { return nil }
    var record = CSVRecord(number: number, line: line)
    number += 1
    record.bytes.reserveCapacity(512)
    record.ends.reserveCapacity(max(1, header.count))
    var state = State.fieldStart
    var openedOn = line
    while try fill() {
      switch state {
      case .quoted: appendQuotedRun(to: &record)
      case .unquoted, .fieldStart: appendPlainRun(to: &record, state: &state)
      case .quoteInQuoted, .carriageReturn: break
      }
      if record.bytes.count > limitInBytes {
        throw .recordTooLong(file: file, line: record.line, limitInBytes: limitInBytes)
      }
      guard position < chunk.count else { continue }
      let byte = chunk[position]
      position += 1
      switch (state, byte) {
      case (.quoted, Self.quote): state = .quoteInQuoted
      case (.quoteInQuoted, Self.quote):
        record.bytes.append(Self.quote)
        state = .quoted
      case (.fieldStart, Self.quote):
        state = .quoted
        openedOn = line
      case (.unquoted, Self.quote): throw .quoteInUnquotedField(file: file, line: line)
      case (.carriageReturn, 10), (.fieldStart, 10), (.unquoted, 10), (.quoteInQuoted, 10):
        line += 1
        record.ends.append(record.bytes.count)
        return record
      case (.carriageReturn, _): throw .strayCarriageReturn(file: file, line: line)
      case (_, 13): state = .carriageReturn
      case (_, delimiter):
        record.ends.append(record.bytes.count)
        state = .fieldStart
      default: throw .textAfterQuote(file: file, line: line)
      }
    }
    switch state {
    case .quoted: throw .unclosedQuote(file: file, line: openedOn)
    case .carriageReturn: throw .strayCarriageReturn(file: file, line: line)
    case .fieldStart, .unquoted, .quoteInQuoted:
      record.ends.append(record.bytes.count)
      return record
    }
  }

  private static let quote = UInt8(ascii: "\"")

  /// Makes sure a byte is there; false at the end of the file.
  private mutating func fill() throws(CSVError) -> Bool {
    guard position == chunk.count else { return true }
    bytesBefore += chunk.count
    chunk = try input.next()
    position = 0
    return !chunk.isEmpty
  }

  /// Takes everything up to the next byte that means something outside quotes.
  private mutating func appendPlainRun(to record: inout CSVRecord, state: inout State) {
    let (start, delimiter) = (position, delimiter)
    let end = chunk.withUnsafeBufferPointer { bytes -> Int in
      var end = start
      while end < bytes.count {
        let byte = bytes[end]
        if byte == delimiter || byte == 34 || byte == 10 || byte == 13 { break }
        end += 1
      }
      return end
    }
    guard end > start else { return }
    record.bytes.append(contentsOf: chunk[start..<end])
    position = end
    state = .unquoted
  }

  /// Takes everything up to the next quote, counting lines.
  private mutating func appendQuotedRun(to record: inout CSVRecord) {
    let start = position
    let (end, lines) = chunk.withUnsafeBufferPointer { bytes -> (Int, Int) in
      var (end, lines) = (start, 0)
      while end < bytes.count {
        let byte = bytes[end]
        if byte == 34 { break }
        if byte == 10 { lines += 1 }
        end += 1
      }
      return (end, lines)
    }
    record.bytes.append(contentsOf: chunk[start..<end])
    position = end
    line += lines
  }
}
