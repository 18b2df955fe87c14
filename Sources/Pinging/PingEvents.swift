import CPinger
import Dispatch
import Foundation

/// What became of pings, in the order in which it was known, as fast as it is asked for: whoever is slow slows floods down.
/// One reader; it ends after ``Pinger/shutdown()``, and when the reading task is cancelled.
public struct PingEvents: AsyncSequence, Sendable {
  public typealias Element = PingEvent

  let inbox: PingInbox

  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  /// What there is just now, perhaps nothing; in place of iterating, for a reader that looks at times of its own.
  public func available() -> ArraySlice<PingEvent> { inbox.available() }

  public struct Iterator: AsyncIteratorProtocol {
    let inbox: PingInbox
    private var batch: ArraySlice<PingEvent> = []

    init(inbox: PingInbox) { self.inbox = inbox }

    public mutating func next() async -> PingEvent? {
      if batch.isEmpty { batch = await nextBatch() ?? [] }
      return batch.popFirst()
    }

    /// What there is by now, at least one event; `nil` at the end.
    public mutating func nextBatch() async -> ArraySlice<PingEvent>? {
      guard batch.isEmpty else {
        defer { batch = [] }
        return batch
      }
      return await inbox.take()
    }
  }
}

/// Reads the ring of the C instance when somebody wants what is in it. All of its state belongs to its lock.
final class PingInbox: @unchecked Sendable {
  private let pinger: OpaquePointer
  private let lock = NSLock()
  private let readable: any DispatchSourceRead
  /// Of what is read at once. Memory that nobody writes to is not taken.
  private let buffer = UnsafeMutableBufferPointer<cping_event>.allocate(capacity: 512)
  private var reader: CheckedContinuation<ArraySlice<PingEvent>?, Never>?
  private var isListening = false
  /// The reading task was cancelled.
  private var isOver = false

  /// - Parameter pinger: Is destroyed when this has stopped listening, at its end.
  init(_ pinger: OpaquePointer) {
    self.pinger = pinger
    readable = DispatchSource.makeReadSource(
      fileDescriptor: cping_event_fd(pinger), queue: DispatchQueue(label: "pinger events"))
    readable.setEventHandler { [weak self] in self?.serve() }
  }

  func take() async -> ArraySlice<PingEvent>? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        lock.withLock {
          reader = continuation
          deliver()
          if reader != nil { listen() }
        }
      }
    } onCancel: {
      lock.withLock {
        isOver = true
        deliver()
      }
    }
  }

  func available() -> ArraySlice<PingEvent> { lock.withLock(read) }

  private func serve() { lock.withLock(deliver) }

  /// Hands over what there is, if somebody waits for it.
  private func deliver() {
    guard reader != nil else { return pause() }
    if isOver { return answer(nil) }
    let batch = read()
    if !batch.isEmpty {
      answer(batch)
    } else if cping_wait(pinger, 0) < 0 {
      answer(nil)
    }
  }

  private func read() -> ArraySlice<PingEvent> {
    let count = cping_read(pinger, buffer.baseAddress, buffer.count)
    return buffer[..<count].map(PingEvent.init)[...]
  }

  private func answer(_ batch: ArraySlice<PingEvent>?) {
    reader?.resume(returning: batch)
    reader = nil
    pause()
  }

  private func listen() {
    if !isListening { readable.resume() }
    isListening = true
  }

  private func pause() {
    if isListening { readable.suspend() }
    isListening = false
  }

  deinit {
    buffer.deallocate()
    // A source must not be suspended when it goes, and it watches a descriptor of the pinger, which so outlives it.
    let pinger = pinger
    readable.setCancelHandler { cping_destroy(pinger) }
    readable.cancel()
    if !isListening { readable.resume() }
  }
}
