import Foundation
import LineEditor
import Quire
import QuireShell
import Synchronization

/// The live answers of a conversation: followed on the main actor, drawn by the thread that reads keys.
@MainActor final class LiveBoard {
  /// As they are now, in the order they were begun.
  nonisolated private let shown = Mutex<[LivePicture]>([])
  nonisolated private let wakeup = Mutex<Wakeup?>(nil)
  private var entries: [Entry] = []
  private var last = 0
  /// One for each queried file.
  private var answers: [LiveAnswers] = []

  private struct Entry {
    let number: Int
    let live: any LiveAnswer
    let tokens: [Any]
  }

  init() {}

  /// What is rung when a picture is another.
  nonisolated func ring(_ bell: Wakeup) { wakeup.withLock { $0 = bell } }

  nonisolated var pictures: [LivePicture] { shown.withLock { $0 } }

  nonisolated func picture(_ number: Int) -> LivePicture? { pictures.first { $0.number == number } }

  nonisolated func pin(_ number: Int) { change(number) { $0.isPinned = true } }

  nonisolated private func change(_ number: Int, _ body: (inout LivePicture) -> Void) {
    shown.withLock { shown in
      guard let index = shown.firstIndex(where: { $0.number == number }) else { return }
      body(&shown[index])
    }
    wakeup.withLock { $0 }?.ring()
  }

  /// Begins to follow.
  ///
  /// - Parameter own: The commits of the conversation itself.
  /// - Returns: Its number, by which it is ended.
  func open(_ plan: LivePlan, _ file: String, own: SessionCommits) throws(ShellFailure) -> Int {
    let url = URL(filePath: file)
    let source = answers.first { $0.file == url } ?? LiveAnswers(url)
    let (live, manner) = try source.open(plan)
    try source.recognize(own)
    if !answers.contains(where: { $0 === source }) { answers.append(source) }
    last += 1
    let number = last
    var picture = LivePicture(number: number, title: printable(plan.title), manner: printable("\(manner)"))
    picture.take(live, nil, from: "")
    shown.withLock { $0.append(picture) }
    let tokens: [Any] = [
      live.onDifference { [unowned self] difference in
        change(number) { $0.take(live, difference, from: source.writer) }
        fade(number)
      },
      observe { [unowned self] in
        guard let error = live.error else { return }
        let text = printable("\(error)")
        change(number) { $0.error = text }
      },
    ]
    entries.append(Entry(number: number, live: live, tokens: tokens))
    return number
  }

  /// Removes the highlighting after two seconds, unless there is a newer one.
  private func fade(_ number: Int) {
    let news = picture(number)?.news
    Task { [weak self] in
      try await Task.sleep(for: .seconds(2))
      self?.change(number) { if $0.news == news { $0.fade() } }
    }
  }

  /// Ends one, or all.
  func end(_ number: Int?) {
    entries.removeAll { number == nil || $0.number == number }
    shown.withLock { shown in shown.removeAll { number == nil || $0.number == number } }
  }

  /// Ends them all, and leaves nothing beside the files.
  func close() {
    end(nil)
    for source in answers { source.close() }
    answers = []
  }
}
