public import Foundation

/// `2026-11-20 10:15:30.123456`: UTC, with six decimals, or more if six do not read back as the same `Date`. Each date
/// has exactly one text, and text order is time order.
///
/// A written date reads back bit for bit (a negative zero as zero), and writing a date that was read gives the same
/// text. That includes text of earlier versions, which always wrote six decimals. Reading also accepts what other
/// SQLite tools write: a date alone, a time without seconds, any number of decimals, `T` instead of the space, `Z` or
/// an offset such as `+01:00`. Days that do not exist in the calendar are refused.
extension Date: StoredValue {
  public static var _columnType: _Quire.ColumnType { .text }

  public static func _read<Source: _Quire.ColumnSource & ~Copyable>(from source: borrowing Source, at index: Int32)
    throws(ValueError) -> Date
  {
    var text = try source.text(index)
    let seconds = text.withUTF8 { DateForm.read($0) }
    guard let seconds else { throw ValueError.notA(type: "Date", column: index, found: String(text.prefix(40))) }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  public func _write<Sink: _Quire.ColumnSink & ~Copyable>(to sink: borrowing Sink, at index: Int32) throws(ValueError) {
    guard let text = DateForm.text(of: timeIntervalSinceReferenceDate) else {
      throw ValueError.notStorable(
        "\(timeIntervalSince1970) s since 1970", reason: "dates have years 0000 to 9999")
    }
    sink.bind(text, at: index)
  }
}

/// The arithmetic of the text form of dates, without calendars or locales.
package enum DateForm {
  /// Days from 0000-03-01 (proleptic Gregorian) to 2001-01-01, where `Date` counts from.
  private static let daysToReference = 730_791

  /// Nil if the year is not in 0000 to 9999, and for values that are not finite.
  static func text(of interval: Double) -> String? {
    guard interval > -64e9, interval < 253e9 else { return nil }  // roughly; the year below decides
    var whole = Int(interval.rounded(.down))
    // Exact: both have the same exponent, or only the fraction remains.
    var micros = Int(((interval - Double(whole)) * 1e6).rounded())
    if micros == 1_000_000 {
      whole += 1
      micros = 0
    }
    if micros == 0 ? Double(whole) == interval : seconds(whole, micros, decimals: 6) == interval {
      return text(whole, digits(micros, 6))
    }
    // The values that a clock gives in this century.
    let floor = Int(interval.rounded(.down))
    let tenths = Int(((interval - Double(floor)) * 1e7).rounded())
    if tenths % 10 != 0, seconds(floor, tenths, decimals: 7) == interval { return text(floor, digits(tenths, 7)) }
    let exact = ExactSeconds.split(interval)
    return text(exact.floor, exact.decimals)
  }

  /// This moment as SQLite writes it for `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`, in a fraction of its time.
  package static func now() -> String {
    let milliseconds = Int((Date.now.timeIntervalSinceReferenceDate * 1000).rounded(.down))
    let whole = milliseconds >= 0 ? milliseconds / 1000 : -((999 - milliseconds) / 1000)
    return text(whole, digits(milliseconds - whole * 1000, 3), isISO: true) ?? "9999-12-31T23:59:59.999Z"
  }

  private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
    var digits = [UInt8](repeating: 48, count: count)
    var rest = number
    for place in digits.indices.reversed() {
      digits[place] = UInt8(48 + rest % 10)
      rest /= 10
    }
    return digits
  }

  /// - Parameter isISO: Whether to write `T` for the space, and `Z` at the end.
  private static func text(_ whole: Int, _ decimals: [UInt8], isISO: Bool = false) -> String? {
    let days = whole >= 0 ? whole / 86_400 : -((86_399 - whole) / 86_400)
    let second = whole - days * 86_400
    let (year, month, day) = civil(days)
    guard (0...9999).contains(year) else { return nil }
    return String(unsafeUninitializedCapacity: 21 + decimals.count) { bytes in
      func put(_ value: Int, _ digits: Int, at position: Int) {
        var rest = value
        for place in stride(from: position + digits - 1, through: position, by: -1) {
          bytes[place] = UInt8(48 + rest % 10)
          rest /= 10
        }
      }
      put(year, 4, at: 0)
      bytes[4] = 45
      put(month, 2, at: 5)
      bytes[7] = 45
      put(day, 2, at: 8)
      bytes[10] = isISO ? 84 : 32
      put(second / 3600, 2, at: 11)
      bytes[13] = 58
      put(second / 60 % 60, 2, at: 14)
      bytes[16] = 58
      put(second % 60, 2, at: 17)
      bytes[19] = 46
      for (place, decimal) in decimals.enumerated() { bytes[20 + place] = decimal }
      if isISO { bytes[20 + decimals.count] = 90 }
      return (isISO ? 21 : 20) + decimals.count
    }
  }

  private static let powers = [1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7]

  /// Whole seconds with up to seven decimals, as the nearest number.
  private static func seconds(_ whole: Int, _ fraction: Int, decimals: Int) -> Double {
    let power = powers[decimals]
    let all = whole * Int(power) + fraction  // of 10,000 years: below 2⁶²
    // Both are exact, so the quotient is rounded only once.
    if all.magnitude <= 1 << 53 { return Double(all) / power }
    return ExactSeconds.join(whole, digits(fraction, decimals))
  }

  /// Seconds since the reference date; nil if the text does not have an accepted form.
  static func read(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    var reader = Reader(text: text)
    guard let year = reader.number(4), reader.take(45), let month = reader.number(2), reader.take(45),
      let day = reader.number(2), (1...12).contains(month), day >= 1, day <= length(of: month, year)
    else { return nil }
    var seconds = days(year, month, day) * 86_400
    var decimals: Range<Int>?
    if !reader.isAtEnd {
      guard reader.take(32) || reader.take(84), let hour = reader.number(2), hour < 24, reader.take(58),
        let minute = reader.number(2), minute < 60
      else { return nil }
      seconds += hour * 3600 + minute * 60
      if reader.take(58) {
        guard let second = reader.number(2), second < 60 else { return nil }
        seconds += second
        if reader.take(46) {
          guard let read = reader.decimals() else { return nil }
          decimals = read
        }
      }
      guard let offset = reader.offset() else { return nil }
      seconds -= offset
    }
    if !reader.isAtEnd { return nil }
    guard let decimals else { return Double(seconds) }
    guard decimals.count < powers.count else { return ExactSeconds.join(seconds, text[decimals]) }
    let fraction = decimals.reduce(0) { $0 * 10 + Int(text[$1] &- 48) }
    return self.seconds(seconds, fraction, decimals: decimals.count)
  }

  /// Year, month and day of a day counted from the reference date. Internally the year begins in March, so that the
  /// leap day comes last (Howard Hinnant's `civil_from_days`).
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + daysToReference
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1
    )
  }

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let marchYear = month <= 2 ? year - 1 : year
    let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysToReference
  }

  private static func length(of month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private struct Reader {
    let text: UnsafeBufferPointer<UInt8>
    var position = 0

    var isAtEnd: Bool { position == text.count }

    mutating func take(_ byte: UInt8) -> Bool {
      guard position < text.count, text[position] == byte else { return false }
      position += 1
      return true
    }

    mutating func number(_ digits: Int) -> Int? {
      guard position + digits <= text.count else { return nil }
      var value = 0
      for place in position..<position + digits {
        let digit = text[place] &- 48
        guard digit < 10 else { return nil }
        value = value * 10 + Int(digit)
      }
      position += digits
      return value
    }

    /// The range of the decimals of a second, of which there must be at least one.
    mutating func decimals() -> Range<Int>? {
      let start = position
      while position < text.count, text[position] &- 48 < 10 { position += 1 }
      return position == start ? nil : start..<position
    }

    /// `Z`, `±hh:mm` or nothing, in seconds.
    mutating func offset() -> Int? {
      if isAtEnd || take(90) { return 0 }
      let sign = take(43) ? 1 : take(45) ? -1 : 0
      guard sign != 0, let hours = number(2), hours < 24, take(58), let minutes = number(2), minutes < 60 else {
        return nil
      }
      return sign * (hours * 3600 + minutes * 60)
    }
  }
}
