// The part of Scripts/record-demo that draws: text with colors from a terminal, as SVG. A part begins with a line of `──`,
// and parts appear one after the other; a viewer that does not move pictures shows all of them.
import Foundation

var lines: [String] = []
// Times are those of this machine and of a debug build.
while let line = readLine() {
  lines.append(line.replacing(#/ · \d+ µs from the edit to the new list| in \d+(\.\d+)? ?m?s$/#, with: ""))
}
// The last part is about the file, in a temporary folder.
if let end = lines.firstIndex(where: { $0.hasPrefix("The file is plain") }) { lines.removeSubrange(end...) }
while lines.last?.replacing(/\u{1B}\[\d*m/, with: "").isEmpty == true { lines.removeLast() }

func escaped(_ text: Substring) -> String {
  String(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
}

/// A line as `tspan` elements, by its escape sequences.
func spans(_ line: String, _ style: inout String) -> String {
  var result = ""
  var rest = Substring(line)
  while !rest.isEmpty {
    let next = rest.firstMatch(of: /\u{1B}\[(?<code>\d*)m/)
    let text = next.map { rest[..<$0.range.lowerBound] } ?? rest
    if !text.isEmpty { result += style.isEmpty ? escaped(text) : "<tspan class=\"\(style)\">\(escaped(text))</tspan>" }
    guard let next else { break }
    style = ["1": "b", "2": "d", "33": "y", "32": "g", "31": "r"][String(next.code)] ?? ""
    rest = rest[next.range.upperBound...]
  }
  return result
}

let plain = lines.map { $0.replacing(/\u{1B}\[\d*m/, with: "") }
let width = (plain.map(\.count).max() ?? 80) * 8 + 40
let height = lines.count * 18 + 40
print(
  """
  <svg xmlns="http://www.w3.org/2000/svg" role="img" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
  <title>quire demo: a list that follows five kinds of edit</title>
  <style>
  svg{--page:#f6f7f9;--text:#1d2430;--dim:#68758a;--code:#8a5a00}
  text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
  .b{font-weight:700}.d{fill:var(--dim)}.y{fill:var(--code)}
  g+g{animation:show .6s backwards}
  @keyframes show{from{opacity:0}}
  @media (prefers-reduced-motion: reduce){g+g{animation:none}}
  @media (prefers-color-scheme: dark) { svg{--page:#16181d;--text:#e8ecf3;--dim:#93a0b5;--code:#e5b567} }
  </style>
  <rect width="100%" height="100%" rx="8" style="fill:var(--page)"/>
  """)
var part = 0
var style = ""
print("<g>")
for (place, line) in lines.enumerated() {
  if plain[place].hasPrefix("── ") {
    part += 1
    print("</g>\n<g style=\"animation-delay:\(part * 2)s\">")
  }
  print("<text x=\"20\" y=\"\(place * 18 + 32)\" xml:space=\"preserve\">\(spans(line, &style))</text>")
}
print("</g>\n</svg>")
