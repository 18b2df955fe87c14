import CPinger
import Dispatch
import Foundation

/// Reads the event ring of the C instance on demand. Its lock guards all of its state.
final class PingInbox: @unchecked Sendable {
  private let pinger: OpaquePointer
  private let lock = NSLock()
  private let readable: any DispatchSourceRead
  /// The room for one read of the ring. Untouched pages of it cost no memory.
  private let buffer = UnsafeMutableBufferPointer<cping_event>.allocate(capacity: 512)
  private var reader: CheckedContinuation<ArraySlice<PingEvent>?, Never>?
  private var isListening = false
  /// The reading task was cancelled.
  private var isOver = false

  /// - Parameter pinger: The C instance; the inbox owns it and destroys it in the end.
  init(_ pinger: OpaquePointer) {
    self.pinger = pinger
    readable = DispatchSource.makeReadSource(
      fileDescriptor: cping_event_fd(pinger), queue: DispatchQueue(label: "pinger events"))
    readable.setEventHandler { [weak self] in self?.serve() }
  }

  /// The next events, at least one; `nil` at the end.
  func next() async -> ArraySlice<PingEvent>? {
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

  /// The events so far, without waiting; can be empty.
  func available() -> ArraySlice<PingEvent> { lock.withLock(read) }

  private func serve() { lock.withLock(deliver) }

  /// Passes the events so far to a waiting reader.
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
    // A dispatch source must not be suspended when it is released. It watches a descriptor of the pinger, so the pinger is destroyed when
    // the source is cancelled.
    let pinger = pinger
    readable.setCancelHandler { cping_destroy(pinger) }
    readable.cancel()
    if !isListening { readable.resume() }
  }
}
