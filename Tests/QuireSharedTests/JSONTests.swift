import Foundation
import TestSupport
import Testing

@testable import QuireShared

/// What etcd's gateway is sent, and what it answers.
struct JSONTests {
  @Test func `what is written is what Foundation reads`() throws {
    let document: JSON = [
      "key": .base64([0, 255, 7, 9]), "name": "a \"quoted\" \\ line\nand ✓",
      "list": [true, false, .null, .number("-12")],
      "empty": [:], "none": [],
    ]
    let read = try #require(try JSONSerialization.jsonObject(with: Data(document.bytes)) as? NSDictionary)
    let expected: NSDictionary = [
      "key": "AP8HCQ==", "name": "a \"quoted\" \\ line\nand ✓", "list": [true, false, NSNull(), -12],
      "empty": [String: String](), "none": [String](),
    ]
    #expect(read == expected)
  }

  @Test func `what Foundation writes is read`() throws {
    let values: [String: Any] = [
      "message": "no \"leader\"\t✓ \u{1}/", "code": 14, "ok": true, "deep": ["a": [["b": "c"], []]],
      "nothing": NSNull(),
    ]
    for options: JSONSerialization.WritingOptions in [[], .prettyPrinted] {
      let json = try #require(JSON(JSONSerialization.data(withJSONObject: values, options: options)))
      #expect(json["message"]?.string == "no \"leader\"\t✓ \u{1}/" && json["code"]?.integer == 14)
      #expect(json["ok"]?.isTrue == true && json["deep"]?["a"]?.items.first?["b"]?.string == "c")
      #expect(json["none"] == nil && json["nothing"]?.string == nil)
    }
    #expect(JSON(Array(#""\u003c\u00e9\u2713\ud83d""#.utf8))?.string == "<é✓\u{fffd}")
  }

  @Test func `bytes that are not JSON are refused, and never trap`() {
    let texts = [
      "", "{", "[1,", "{\"a\"}", "{\"a\":}", "{a:1}", "\"", "\"\\", "\"\\u12", "\"\\u12g4\"", "tru", "[1 2]", "1 1",
      "\u{0}",
      "[1,]", String(repeating: "[", count: 100_000),
    ]
    for text in texts { #expect(JSON(Array(text.utf8)) == nil, "\(text.prefix(20))") }
    var random = Random(seed: 7)
    let valid = Array(
      #"{"header":{"revision":"7"},"kvs":[{"key":"YQ==","value":"\u0041"}],"more":true,"n":-1.5e3}"#.utf8)
    for _ in 0..<2000 {
      var bytes = valid
      for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      _ = JSON(bytes.prefix(random.below(bytes.count + 1)))
    }
  }

  @Test func `base64 is Foundation's`() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      var text: [UInt8] = []
      Base64.encode(bytes, to: &text)
      let string = String(decoding: text, as: UTF8.self)
      #expect(string == Data(bytes).base64EncodedString())
      #expect(Base64.decode(string) == bytes)
    }
    for text in ["A", "AA", "AAA", "A===", "=AAA", "AA=A", "AA*A", "ÄAA"] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }
}
