/// Puts `work` into an actor's queue at once, from any thread.
///
/// A task made away from the actor starts on the threads that all tasks share, and only then asks to go to the actor: on
/// a busy machine much later, and in any order. One made on the actor goes straight into its queue.
package func enqueue(on actor: any Actor, _ work: @escaping @Sendable (isolated any Actor) -> Void) {
  func start(on isolation: isolated any Actor) { Task { work(isolation) } }
  // Making a task touches nothing of the actor's, so it may be made from anywhere; there is no other way to say so.
  let startAnywhere = unsafeBitCast(start as (isolated any Actor) -> Void, to: ((any Actor) -> Void).self)
  startAnywhere(actor)
}
