/// Adds `work` to an actor's queue immediately, from any thread.
///
/// A task created outside the actor starts on the shared pool of threads and only then hops to the actor: on a busy
/// machine much later, and in any order. A task created on the actor enters its queue directly.
package func enqueue(on actor: any Actor, _ work: @escaping @Sendable (isolated any Actor) -> Void) {
  func start(on isolation: isolated any Actor) { Task { work(isolation) } }
  // Creating a task does not touch the actor's state, so it is safe from anywhere; Swift has no other way to express
  // this.
  let startAnywhere = unsafeBitCast(start as (isolated any Actor) -> Void, to: ((any Actor) -> Void).self)
  startAnywhere(actor)
}
