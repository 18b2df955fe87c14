/// The events of a pinger, in order of occurrence. A slow reader slows floods down.
///
/// Only one task can read. The sequence ends after ``Pinger/shutdown()``, and when the reading task is cancelled.
public struct PingEvents: AsyncSequence, Sendable {
  /// An event of a ping or a target.
  public typealias Element = PingEvent

  let inbox: PingInbox

  /// The iterator; all iterators share the events.
  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  /// The events so far, without waiting; can be empty. For a reader that polls instead of iterating.
  public func available() -> ArraySlice<PingEvent> { inbox.available() }

  /// Reads events in batches.
  public struct Iterator: AsyncIteratorProtocol {
    let inbox: PingInbox
    private var batch: ArraySlice<PingEvent> = []

    init(inbox: PingInbox) { self.inbox = inbox }

    /// The next event; `nil` at the end.
    public mutating func next() async -> PingEvent? {
      if batch.isEmpty { batch = await nextBatch() ?? [] }
      return batch.popFirst()
    }

    /// The events so far, at least one; `nil` at the end.
    public mutating func nextBatch() async -> ArraySlice<PingEvent>? {
      guard batch.isEmpty else {
        defer { batch = [] }
        return batch
      }
      return await inbox.next()
    }
  }
}
