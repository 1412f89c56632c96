#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Editor {
  /// What may come while one waits.
  public enum Event: Hashable, Sendable {
    case key(Key)
    /// The ``Editor/wakeup`` was triggered.
    case rung
    case resized
    /// The process was stopped and continues; it has the terminal again.
    case resumed
    /// Another process sent the signal that Ctrl-C sends.
    case interrupted
    case timedOut
    /// The input is at its end, or the terminal is gone.
    case closed
  }

  /// How long an escape may be the beginning of a sequence.
  private static let escapeMilliseconds: Int32 = 50

  /// Waits for the next event. There are keys only if the terminal ``Editor/isInteractive``.
  ///
  /// Signals that end the process restore the terminal's settings first.
  ///
  /// - Parameter milliseconds: The longest wait; nil for no limit.
  public func next(milliseconds: Int32? = nil) -> Event {
    if !keys.isEmpty { return .key(keys.removeFirst()) }
    while true {
      let wait = decoder.isPending ? Self.escapeMilliseconds : milliseconds ?? -1
      let rings = [signals.bell.inside, wakeup.inside]
      let ready = Descriptor.wait(for: isInteractive ? rings + [input] : rings, milliseconds: wait)
      if ready.contains(signals.bell.inside), let event = heard(signals.bell.answer()) { return event }
      if ready.contains(input) {
        let bytes = input.read()
        if bytes.isEmpty { return .closed }
        keys += decoder.decode(bytes)
      } else if ready.contains(wakeup.inside) {
        _ = wakeup.answer()
        return .rung
      } else if ready.isEmpty {
        if decoder.isPending {
          keys += decoder.flush()
        } else if milliseconds != nil {
          return .timedOut
        }
      }
      if !keys.isEmpty { return .key(keys.removeFirst()) }
    }
  }

  /// The event of the last signal that is one.
  func heard(_ signals: [UInt8]) -> Event? {
    var event: Event?
    for signal in signals.map(Int32.init) {
      switch signal {
      case SIGWINCH: event = event ?? .resized
      case SIGINT: event = .interrupted
      case SIGCONT: event = resume()
      case SIGTSTP:
        stop()
        event = .resumed
      default:
        end()
        output.write("\r\n")
        // As it would have ended without us, so that a shell sees why.
        die(of: signal)
      }
    }
    return event
  }

  /// Sent to the process, not to this thread, which may block signals.
  private func die(of number: Int32) -> Never {
    signal(number, SIG_DFL)
    kill(getpid(), number)
    while true { pause() }
  }

  /// Stops the process as Ctrl-Z does, and sets up the terminal again when it continues.
  func stop() {
    end()
    kill(0, SIGTSTP)
    begin()
    painter.forget()
  }

  /// After a stop without notice: another program may have left the terminal in another mode.
  private func resume() -> Event {
    if raw.isOn {
      raw.end()
      raw.begin()
    }
    painter.forget()
    return .resumed
  }

  /// Waits until `isDone`, which is checked after every ``wakeup``. What is typed meanwhile is kept for the next text.
  ///
  /// - Parameters:
  ///   - milliseconds: How often `tick` is called.
  ///   - interrupted: Called at every Ctrl-C, which also discards what was typed before it.
  public func wait(
    every milliseconds: Int32, until isDone: () -> Bool, tick: () -> Void, interrupted: () -> Void
  ) {
    var typed = keys
    keys = []
    // Keys are checked once in any case, even if there is always something to show.
    repeat {
      let isOver = isDone()
      switch next(milliseconds: isOver ? 0 : milliseconds) {
      case .key(.control("c")), .interrupted:
        typed = []
        interrupted()
      case .key(.control("z")): stop()
      case .key(let key): typed.append(key)
      case .timedOut: if !isOver { tick() }
      case .rung, .resized, .resumed: break
      case .closed:
        // The terminal is gone, so the result is not needed.
        interrupted()
        while !isDone() {
          _ = Descriptor.wait(for: [wakeup.inside], milliseconds: milliseconds)
          _ = wakeup.answer()
        }
      }
    } while !isDone()
    keys = typed + keys
  }
}
