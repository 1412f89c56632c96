/// Bytes from a terminal → keys.
///
/// Bytes may arrive in any pieces: an incomplete sequence is kept until the rest arrives. Escape alone cannot be
/// distinguished from the beginning of a sequence, so the reader waits briefly while ``isPending``, and then calls
/// ``flush()``.
///
///     var decoder = KeyDecoder()
///     decoder.decode([0x1B, 0x5B])    → []
///     decoder.decode([0x41])          → [up]
///     decoder.decode([0x1B])          → []
///     decoder.flush()                 → [escape]
public struct KeyDecoder: Sendable {
  private var pending: [UInt8] = []
  /// What was pasted so far, between the brackets.
  private var pasted: [UInt8]?

  public init() {}

  /// Whether a sequence is begun that ``flush()`` would end. A paste is not: its end always comes.
  public var isPending: Bool { pasted == nil && !pending.isEmpty }

  public mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      if pasted != nil {
        paste(byte, &keys)
      } else {
        pending.append(byte)
        take(&keys)
      }
    }
    return keys
  }

  /// Takes what is begun for all there is: escape for a lone escape, `�` for half a character.
  public mutating func flush() -> [Key] {
    guard isPending else { return [] }
    defer { pending = [] }
    if pending.allSatisfy({ $0 == Self.escape }) { return pending.map { _ in Key(.escape) } }
    // Alt with a bracket is how an escape sequence begins.
    if pending.count == 2, pending[0] == Self.escape { return Self.plain(pending[1]).map { [$0.withAlt] } ?? [] }
    return pending[0] == Self.escape ? [Key(.unknown)] : [.text("\u{FFFD}")]
  }

  // MARK: Sequences

  private static let escape: UInt8 = 0x1B
  private static let pasteEnd: [UInt8] = Array("\u{1B}[201~".utf8)
  /// A longer sequence is not a key of any terminal.
  private static let longestSequence = 64

  /// Takes the key off `pending` once it is whole.
  private mutating func take(_ keys: inout [Key]) {
    guard let first = pending.first else { return }
    guard first == Self.escape else {
      if let key = character(pending) {
        finish(key, &keys)
      } else if let last = pending.last, pending.count > 1, last & 0xC0 != 0x80 {
        // An incomplete character, followed by something else.
        finish(.text("\u{FFFD}"), &keys)
        pending = [last]
        take(&keys)
      }
      return
    }
    guard pending.count > 1 else { return }
    let isAlt = pending.count > 2 && pending[1] == Self.escape
    let sequence = isAlt ? Array(pending.dropFirst()) : pending
    switch sequence[1] {
    case Self.escape: return  // the escape of a sequence with Alt, or a second escape
    case UInt8(ascii: "["): control(sequence, isAlt: isAlt, &keys)
    case UInt8(ascii: "O"):
      guard sequence.count > 2 else { return }
      let key = Key(Self.letters[sequence[2]] ?? .unknown)
      finish(isAlt ? key.withAlt : key, &keys)
    default:
      if isAlt { keys.append(Key(.escape)) }
      if let key = character(Array(sequence.dropFirst())) { finish(key.withAlt, &keys) }
    }
  }

  private mutating func finish(_ key: Key, _ keys: inout [Key]) {
    keys.append(key)
    pending = []
  }

  /// `ESC [ parameters final`.
  private mutating func control(_ sequence: [UInt8], isAlt: Bool, _ keys: inout [Key]) {
    guard sequence.count > 2, let final = sequence.last else { return }
    // A control character inside ends it, so that a torn sequence does not swallow what is typed after it.
    if final < 0x20 || sequence.count > Self.longestSequence {
      finish(Key(.unknown), &keys)
      if final < 0x20 {
        pending = [final]
        take(&keys)
      }
      return
    }
    // The Linux console encodes F1 to F5 with a second bracket.
    if sequence.count == 3, final == UInt8(ascii: "[") { return }
    if sequence.count == 4, sequence[2] == UInt8(ascii: "[") { return finish(Key(.unknown), &keys) }
    guard (0x40...0x7E).contains(final) else { return }
    let parameters = String(decoding: sequence[2..<(sequence.count - 1)], as: UTF8.self)
      .split(separator: ";", omittingEmptySubsequences: false).map { Int($0.prefix { $0 != ":" }) ?? 0 }
    if final == UInt8(ascii: "~"), parameters == [200] {
      pending = []
      pasted = []
      return
    }
    let key = Self.key(final, parameters)
    finish(isAlt ? key.withAlt : key, &keys)
  }

  private static let letters: [UInt8: Key.Code] = [
    UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
    UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end, UInt8(ascii: "M"): .enter,
  ]

  private static let numbers: [Int: Key.Code] = [
    1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
  ]

  private static func key(_ final: UInt8, _ parameters: [Int]) -> Key {
    let first = parameters.first ?? 0
    let modifiers = modifiers(parameters.count > 1 ? parameters[1] : 1)
    switch final {
    case UInt8(ascii: "Z"): return Key(.tab, .shift)
    case UInt8(ascii: "~") where first == 27 && parameters.count > 2: return coded(parameters[2], modifiers)
    case UInt8(ascii: "~"): return Key(numbers[first] ?? .unknown, modifiers)
    case UInt8(ascii: "u"): return coded(first, modifiers)
    default:
      guard let code = letters[final], final != UInt8(ascii: "M") else { return Key(.unknown) }
      return Key(code, modifiers)
    }
  }

  /// A key encoded by its character's number, as in terminals that distinguish Shift-Enter from Enter.
  private static func coded(_ number: Int, _ modifiers: Key.Modifiers) -> Key {
    guard let scalar = UInt32(exactly: number).flatMap(Unicode.Scalar.init) else { return Key(.unknown) }
    if scalar.value < 0x80, let plain = plain(UInt8(scalar.value)) {
      if case .text(let text) = plain.code, plain.modifiers.isEmpty {
        return Key(.text(text), modifiers.subtracting(.shift))
      }
      return Key(plain.code, plain.modifiers.union(modifiers))
    }
    return Key(.text(String(Character(scalar))), modifiers.subtracting(.shift))
  }

  /// One more than shift 1, alt 2, control 4.
  private static func modifiers(_ number: Int) -> Key.Modifiers {
    Key.Modifiers(rawValue: UInt8(truncatingIfNeeded: max(0, number - 1)) & 7)
  }

  // MARK: Characters

  /// The key of a whole character; nil until its last byte is there.
  private func character(_ bytes: [UInt8]) -> Key? {
    guard let first = bytes.first else { return nil }
    if first < 0x80 { return Self.plain(first) }
    let length =
      switch first {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    if bytes.count < length || !bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    // Control characters of the upper half.
    return text.unicodeScalars.contains { (0x80..<0xA0).contains($0.value) } ? Key(.unknown) : .text(text)
  }

  private static func plain(_ byte: UInt8) -> Key? {
    switch byte {
    case 0: .control("@")
    case 9: Key(.tab)
    case 10, 13: Key(.enter)
    case 8, 127: Key(.backspace)
    case escape: Key(.escape)
    case 1...26: .control(String(Unicode.Scalar(byte + 96)))
    case 28...31: .control(String(Unicode.Scalar(byte + 64)))
    default: .text(String(Unicode.Scalar(byte)))
    }
  }

  // MARK: Pastes

  private mutating func paste(_ byte: UInt8, _ keys: inout [Key]) {
    pasted?.append(byte)
    guard byte == UInt8(ascii: "~"), let bytes = pasted, bytes.suffix(Self.pasteEnd.count) == Self.pasteEnd[...] else {
      return
    }
    pasted = nil
    keys.append(Key(.paste(Self.cleaned(bytes.dropLast(Self.pasteEnd.count)))))
  }

  private static func cleaned(_ bytes: ArraySlice<UInt8>) -> String {
    var result = String.UnicodeScalarView()
    var wasReturn = false
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 13: result.append("\n")
      case 10: if !wasReturn { result.append("\n") }
      case 9: result.append(scalar)
      case 0..<32, 127..<160: break
      default: result.append(scalar)
      }
      wasReturn = scalar.value == 13
    }
    return String(result)
  }
}

extension Key {
  fileprivate var withAlt: Key { Key(code, modifiers.union(.alt)) }
}
