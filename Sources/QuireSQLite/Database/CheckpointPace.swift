/// Decides when the write-ahead log is copied into the database, by the log's length in frames. A value.
///
/// The log starts over at its beginning only with a write before which all of it was copied and had no readers. A
/// snapshot of an older commit prevents copying. Once all is copied, a snapshot that was opened before still prevents
/// starting over, so those of the latest commit are opened again (``Positions/renew()``). A checkpoint stays due until
/// the log has started over, and is tried:
///
/// - when the log has reached `pages`, and each time it has grown by as much again;
/// - before a write, if a snapshot has ended since and none of an older commit is left;
/// - when the log is a quarter longer, if there are always readers of older commits: once with a short wait, in which
///   they reach the latest commit, because nothing is written meanwhile. If the wait was in vain, a reader may be on
///   this very thread: the next wait comes after twice as many frames each time, up to eight times `pages`. Then readers
///   are many, or slow, and one of the waits meets them all at the latest commit.
struct CheckpointPace {
  private let pages: Int
  /// The log's length at the last try; 0 when it has started over since.
  private var triedAt = 0
  private var triedBeforeWriteAt = 0
  private var returns = 0
  private var waitsFrom: Int
  private var step: Int

  /// How long readers are waited for.
  ///
  /// - Parameter outgrown: How many times the log has reached its limit. Then old snapshots have been given up, and who is
  ///   left reads just now; the longer the log, the longer such a read may take until it costs less than the log.
  static func patience(outgrown: Int) -> Duration {
    outgrown == 0 ? .milliseconds(20) : .milliseconds(min(200 * outgrown, 2_000))
  }

  init(pages: Int) {
    self.pages = pages
    waitsFrom = pages + pages / 4
    step = max(pages / 16, 1)
  }

  /// Whether a checkpoint is due after a commit.
  mutating func isDue(_ frames: Int) -> Bool {
    if frames < triedAt { self = CheckpointPace(pages: pages) }  // the log has started over
    return frames - triedAt >= pages || waits(frames)
  }

  /// Whether one that has been tried is to be tried before the next write.
  ///
  /// - Parameter returns: how many snapshots have ended so far.
  mutating func wantsAnother(_ frames: Int, afterReturns returns: Int) -> Bool {
    guard triedAt > 0, frames > triedAt || triedBeforeWriteAt == 0, returns != self.returns else { return false }
    if triedBeforeWriteAt > 0, frames - triedBeforeWriteAt < pages / 16 { return false }
    triedBeforeWriteAt = frames
    return true
  }

  func waits(_ frames: Int) -> Bool { frames >= waitsFrom }

  /// Notes a try, and the log's length after it.
  mutating func tried(_ frames: Int, waiting: Bool, returns: Int) {
    triedAt = frames
    self.returns = returns
    if waiting {
      waitsFrom = frames + step
      step = min(step * 2, pages * 8)
    }
  }
}
