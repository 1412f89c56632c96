/// How Swift names become SQL names: `isAvailable` is `is_available`, `Book` is `book`, `ISBNCode` is `isbn_code`.
package enum Naming {
  package static func snakeCase(_ name: String) -> String {
    if name.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) { return name }
    var result = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      if character.isUppercase, index > 0 {
        let afterLower = !characters[index - 1].isUppercase && characters[index - 1] != "_"
        let beforeLower = index + 1 < characters.count && characters[index + 1].isLowercase
        if afterLower || (beforeLower && characters[index - 1] != "_") { result.append("_") }
      }
      result += character.lowercased()
    }
    return result
  }
}
