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
      say(error: failure.text(in: plan.title, width: displayWidth, shown: { $0 }))
    case .success(let number):
      guard editor.isInteractive else {
        pinPlain(number)
        return
      }
      watch(number)
    }
  }

  /// If the terminal cannot be redrawn, the result is printed once and kept for listing.
  private func pinPlain(_ number: Int) {
    guard let picture = board.picture(number) else { return }
    picture.lines(rows: picture.rows.count, width: 200, paint).forEach { say($0) }
    say(picture.status)
    finish(number)
  }

  private func watch(_ number: Int) {
    var first = 0
    var frozen: LivePicture?
    while let picture = frozen ?? board.picture(number) {
      let height = height(below: picture, from: first, isPaused: frozen != nil)
      first = min(max(0, first), max(0, picture.rows.count - height))
      draw(picture, from: first, height, isPaused: frozen != nil)
      switch editor.next() {
      case .key(.text("q")), .key(Key(.escape)), .key(.control("c")), .key(.control("d")), .interrupted, .closed:
        editor.finishShowing(keeping: true)
        return finish(number)
      case .key(.control("z")): editor.suspend()
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

  /// How many rows fit between the header and the status.
  private func height(below picture: LivePicture, from first: Int, isPaused: Bool) -> Int {
    let said = status(of: picture, from: first, height: picture.rows.count, isPaused: isPaused)
    return max(1, editor.size.rows - 1 - said.count)
  }

  private func draw(_ picture: LivePicture, from first: Int, _ height: Int, isPaused: Bool) {
    let lines = picture.lines(from: first, rows: height, width: editor.size.columns, paint)
    let status = status(of: picture, from: first, height: lines.count - 1, isPaused: isPaused)
    editor.show(lines + status.map { paint($0, .dim) })
  }

  /// The status below the rows: what happened, the keys, and how the result is kept up to date. Keys that do not fit in
  /// the first line get a line of their own.
  private func status(of picture: LivePicture, from first: Int, height: Int, isPaused: Bool) -> [String] {
    let columns = editor.size.columns
    let more = picture.count > height ? "\((first + 1).grouped) to \((first + height).grouped) of " : ""
    let keys = isPaused ? "paused · p go on" : "q stop · p pause · & keep above the prompt"
    let status = more + picture.status
    let one = "\(status) · \(keys)"
    return (displayWidth(one) <= columns ? [one] : [truncated(status, to: columns), keys])
      + wrapped(picture.manner)
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
    if pictures.isEmpty { return say(wrapped: "nothing is followed: live QUERY, and & keeps it above the prompt") }
    for picture in pictures {
      say(wrapped: "\(picture.number)  \(picture.title) · \(picture.status) · \(picture.manner)")
    }
  }

  func end(_ numbers: [Int]?) {
    let known = board.pictures.map(\.number)
    let ended = numbers ?? known
    for number in ended where !known.contains(number) { say("there is no live answer \(number); .live lists them") }
    for number in ended where known.contains(number) { finish(number) }
  }

  /// Runs work on the main actor and waits for it: the thread that reads keys is not one of the shared pool.
  private func onMain<Value: Sendable>(
    _ body: @escaping @MainActor @Sendable () throws(ShellFailure) -> Value
  ) -> Result<Value, ShellFailure> {
    let done = Transfer<Result<Value, ShellFailure>>()
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
