import LineEditor
import QuireShell
import Synchronization

extension Repl {
  /// Opens a live answer, and shows it alone until one goes back to the prompt.
  func follow(_ plan: LivePlan) {
    let (board, session) = (board, session)
    let file = session.file
    let own = session.commits
    switch onMain({ () throws(ShellFailure) in try board.open(plan, file, own: own) }) {
    case .failure(let failure):
      say(
        paint("error:", .red) + " "
          + printable(failure.text(in: plan.title, width: displayWidth, shown: { $0 }), keepingLines: true))
    case .success(let number):
      guard editor.isInteractive else {
        pinPlain(number)
        return
      }
      watch(number)
    }
  }

  /// Where nothing can be drawn over, the answer is told once and kept to be listed.
  private func pinPlain(_ number: Int) {
    guard let picture = board.picture(number) else { return }
    picture.lines(rows: picture.rows.count, width: 200, paint).forEach(say)
    say(picture.status)
    finish(number)
  }

  private func watch(_ number: Int) {
    var first = 0
    var frozen: LivePicture?
    while let picture = frozen ?? board.picture(number) {
      let height = max(1, editor.size.rows - 3)
      first = min(max(0, first), max(0, picture.rows.count - height))
      draw(picture, from: first, height, isPaused: frozen != nil)
      switch editor.next() {
      case .key(.text("q")), .key(Key(.escape)), .key(.control("c")), .key(.control("d")), .interrupted, .closed:
        editor.finishShowing(keeping: true)
        return finish(number)
      case .key(.text("p")): frozen = frozen == nil ? picture : nil
      case .key(.text("&")):
        editor.finishShowing(keeping: false)
        board.pin(number)
        return say(paint("live \(number) stays above the prompt; .live off \(number) ends it", .dim))
      case .key(Key(.down)), .key(.text("j")): first += 1
      case .key(Key(.up)), .key(.text("k")): first -= 1
      case .key(Key(.pageDown)), .key(.text(" ")): first += height
      case .key(Key(.pageUp)), .key(.text("b")): first -= height
      case .key, .rung, .resized, .resumed, .timedOut: continue
      }
    }
  }

  private func draw(_ picture: LivePicture, from first: Int, _ height: Int, isPaused: Bool) {
    let size = editor.size
    var lines = picture.lines(from: first, rows: height, width: size.columns, paint)
    let more = picture.count > lines.count - 1 ? "\(first + 1) to \(first + lines.count - 1) of " : ""
    let keys = isPaused ? "paused · p go on" : "q stop · p pause · & keep above the prompt"
    lines.append(paint("\(more)\(picture.status) · \(keys)", .dim))
    lines.append(paint(picture.manner, .dim))
    editor.show(lines)
  }

  private func finish(_ number: Int) {
    let board = board
    _ = onMain { () throws(ShellFailure) in board.end(number) }
  }

  // MARK: Above the prompt

  /// The pinned answers, together at most half of the screen.
  func pinned(_ size: Size) -> [String] {
    let pictures = board.pictures.filter(\.isPinned)
    guard !pictures.isEmpty else { return [] }
    let height = max(1, size.rows / 2 / pictures.count - 2)
    return pictures.flatMap { picture -> [String] in
      let more = picture.count > height ? "the first \(min(height, picture.rows.count)) of " : ""
      // What has happened is read first: rather the query is cut.
      let status = " · \(more)\(picture.status)"
      let room = max(20, size.columns - displayWidth(status))
      let title = truncated("live \(picture.number)  \(picture.title.replacing("\n", with: " "))", to: room)
      return [paint(truncated(title + status, to: size.columns), .cyan)]
        + picture.lines(rows: height, width: size.columns, paint)
    }
  }

  func list() {
    let pictures = board.pictures
    if pictures.isEmpty { return say("nothing is followed: live QUERY, and & keeps it above the prompt") }
    for picture in pictures { say("\(picture.number)  \(picture.title) · \(picture.status) · \(picture.manner)") }
  }

  func end(_ numbers: [Int]?) {
    let known = board.pictures.map(\.number)
    let ended = numbers ?? known
    for number in ended where !known.contains(number) { say("there is no live answer \(number); .live lists them") }
    for number in ended where known.contains(number) { finish(number) }
  }

  /// Has the main actor do something, and waits for it: the thread that reads keys is none of the pool's.
  private func onMain<Value: Sendable>(
    _ body: @escaping @MainActor @Sendable () throws(ShellFailure) -> Value
  ) -> Result<Value, ShellFailure> {
    let done = Handed<Result<Value, ShellFailure>>()
    Task { @MainActor in
      do throws(ShellFailure) {
        done.give(.success(try body()))
      } catch {
        done.give(.failure(error))
      }
    }
    return done.take()
  }
}
