/// What a key does.
enum Command: Hashable, Sendable {
  case enter, newline, complete, completeBackwards, escape
  case left, right, wordLeft, wordRight, lineStart, lineEnd, textStart, textEnd
  case up, down, older, newer, olderLikeThis, newerLikeThis, oldest, newest
  case deleteBackwards, deleteForwards, deleteOrLeave
  case killToLineEnd, killToLineStart, killWordBackwards, killBlankWordBackwards, killWordForwards, yank, yankPop
  case transpose, upperCase, lowerCase, capitalize
  case undo, redo, revert
  case search, searchForwards, abort
  case clearScreen, suspend, interrupt, prefix, openEditor
}

extension Command {
  /// The table of keys: those of emacs first, as shells have them.
  static let keys: KeyValuePairs<Key, Command> = [
    Key(.enter): .enter, Key(.enter, .alt): .newline, Key(.enter, .shift): .newline, Key(.enter, .control): .newline,
    Key(.tab): .complete, Key(.tab, .shift): .completeBackwards, Key(.escape): .escape,
    Key(.left): .left, .control("b"): .left, Key(.right): .right, .control("f"): .right,
    Key(.left, .control): .wordLeft, Key(.left, .alt): .wordLeft, .alt("b"): .wordLeft,
    Key(.right, .control): .wordRight, Key(.right, .alt): .wordRight, .alt("f"): .wordRight,
    Key(.home): .lineStart, .control("a"): .lineStart, Key(.end): .lineEnd, .control("e"): .lineEnd,
    Key(.home, .control): .textStart, Key(.end, .control): .textEnd,
    Key(.up): .up, Key(.down): .down, .control("p"): .older, .control("n"): .newer,
    Key(.up, .alt): .older, Key(.down, .alt): .newer, Key(.up, .control): .older, Key(.down, .control): .newer,
    Key(.pageUp): .olderLikeThis, Key(.pageDown): .newerLikeThis, .alt("p"): .olderLikeThis, .alt("n"): .newerLikeThis,
    .alt("<"): .oldest, .alt(">"): .newest,
    Key(.backspace): .deleteBackwards, Key(.backspace, .shift): .deleteBackwards, Key(.delete): .deleteForwards,
    .control("d"): .deleteOrLeave,
    .control("k"): .killToLineEnd, .control("u"): .killToLineStart, .control("w"): .killBlankWordBackwards,
    Key(.backspace, .alt): .killWordBackwards, Key(.backspace, .control): .killWordBackwards,
    .alt("d"): .killWordForwards, Key(.delete, .control): .killWordForwards, Key(.delete, .alt): .killWordForwards,
    .control("y"): .yank, .alt("y"): .yankPop,
    .control("t"): .transpose, .alt("u"): .upperCase, .alt("l"): .lowerCase, .alt("c"): .capitalize,
    .control("_"): .undo, .alt("_"): .redo, .alt("r"): .revert,
    .control("r"): .search, .control("s"): .searchForwards, .control("g"): .abort,
    .control("l"): .clearScreen, .control("z"): .suspend, .control("c"): .interrupt, .control("x"): .prefix,
  ]

  /// After Ctrl-X.
  static let prefixedKeys: KeyValuePairs<Key, Command> = [
    .control("e"): .openEditor, .control("u"): .undo, .control("r"): .redo,
  ]
}
