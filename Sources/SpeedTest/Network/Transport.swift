import Coverage
import Foundation
import Synchronization

/// A connected stream without blocking: plain TCP, or TLS upon it. No call waits; callers wait by ``Waiting`` on `descriptor`.
protocol Transport {
  /// Reads bytes that have arrived. 0: nothing now.
  /// - Throws: ``SpeedTestError/closed`` at the end of the stream.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int
  /// Writes as many bytes as the stream takes. 0: nothing now. The next write must then begin with the same bytes, as TLS may
  /// have encrypted them already.
  /// - Throws: ``SpeedTestError/closed`` when the other side has ended the connection.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int
  /// Whether bytes can be read that poll does not announce, because they are decrypted already.
  var hasBuffered: Bool { get }
  /// For poll.
  var descriptor: Int32 { get }
  /// The version of TLS and the cipher; `nil` without TLS.
  var encryption: String? { get }
  /// Closes at once, without a `close_notify` of TLS.
  func close()
}

extension Transport {
  /// Bytes that the socket took and has not sent; with TLS, they are encrypted. 0 also for sockets other than TCP's.
  var unsent: Int64 {
    var count: Int32 = 0
    // SIOCOUTQNSD of linux/sockios.h, which Swift does not import.
    return ioctl(descriptor, 0x894B, &count) == 0 ? Int64(max(count, 0)) : 0
  }

  /// Writes as many of `bytes` from `start` on as the stream takes. 0: nothing now.
  func write(_ bytes: [UInt8], from start: Int = 0) throws(SpeedTestError) -> Int {
    try bytes.withUnsafeBufferPointer { bytes throws(SpeedTestError) in
      try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start...])))
    }
  }

  /// Up to 4096 bytes that are there; empty: nothing now.
  func readSome() throws(SpeedTestError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBufferPointer { bytes throws(SpeedTestError) in
      try read(into: UnsafeMutableRawBufferPointer(bytes))
    }
    return Array(buffer.prefix(count))
  }
}

/// Counts the bytes of a stream that arrived or left: they cost money even if the test fails. Above TLS, so that the bytes that TLS
/// adds are not counted.
final class CountedTransport: Transport {
  private let transport: any Transport
  private let counter: TrafficCounter
  /// Bytes that the stream took, and those of them that were counted.
  private var written: Int64 = 0, counted: Int64 = 0
  private var isOpen = true

  init(_ transport: any Transport, _ counter: TrafficCounter) { (self.transport, self.counter) = (transport, counter) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = try transport.read(into: buffer)
    counter.addReceived(count)
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = try transport.write(bytes)
    written += Int64(count)
    countSent()
    return count
  }

  /// Counts the bytes that have left since the last call. The sum never goes back: the data budget is charged with it during a test.
  private func countSent() {
    let left = max(counted, written - unsent)
    counter.addSent(Int(left - counted))
    counted = left
  }

  var hasBuffered: Bool { transport.hasBuffered }
  var descriptor: Int32 { transport.descriptor }
  var encryption: String? { transport.encryption }

  func close() {
    if isOpen { countSent() }
    isOpen = false
    transport.close()
  }

  deinit { close() }
}

/// Counts the bytes of a test: those of its connections without the bytes that TLS adds, and its datagrams. All threads of a test
/// add to one counter, and its sums can be read at any time.
final class TrafficCounter: Sendable {
  private let received = Atomic<Int64>(0)
  private let sent = Atomic<Int64>(0)

  func addReceived(_ bytes: Int) { received.wrappingAdd(Int64(bytes), ordering: .relaxed) }

  func addSent(_ bytes: Int) { sent.wrappingAdd(Int64(bytes), ordering: .relaxed) }

  var traffic: SpeedTestTraffic {
    SpeedTestTraffic(received: received.load(ordering: .relaxed), sent: sent.load(ordering: .relaxed))
  }
}

/// Waits for sockets within the limits of a test or of a part of it, and sees an abort within 0.1 s.
struct Waiting: Sendable {
  let clock: TestClock
  /// ns of the clock at which the test, or its part, ends: every wait throws then.
  let deadline: Int64

  /// - Throws: ``SpeedTestError/aborted``, or ``SpeedTestError/timeout(_:)`` at the end of the whole test.
  func check() throws(SpeedTestError) {
    if clock.isAborted() { throw .aborted }
    guard clock.now() < deadline else { throw .timeout("the whole test") }
  }

  /// Waits for an event of poll. False: not until `time`, ns of the clock; `.max` waits until the deadline. An error or an end of
  /// the connection counts as an event: the next read or write reports it.
  /// - Throws: ``SpeedTestError/aborted``, or ``SpeedTestError/timeout(_:)`` at the end of the whole test.
  func wait(on descriptor: Int32, for events: Int16, until time: Int64) throws(SpeedTestError) -> Bool {
    while true {
      try check()
      let now = clock.now()
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      // Poll in slices, so that an abort is seen. With no time left, poll once: bytes that have arrived count.
      let slice = max(0, min(time - now, deadline - now, 100_000_000))
      let code = poll(&entry, 1, Int32((slice + 999_999) / 1_000_000))
      if code > 0 { return true }
      if code < 0, errno != EINTR { throw .unreachable(String(cString: strerror(errno))) }
      if now >= time { return false }
    }
  }
}

/// The time of a test in ns, from any zero, and whether the test was aborted. Both come from outside, so that tests can set them.
struct TestClock: Sendable {
  let now: @Sendable () -> Int64
  let isAborted: @Sendable () -> Bool

  /// CLOCK_MONOTONIC: it does not jump when the wall time is set.
  static func monotonic(isAborted: @escaping @Sendable () -> Bool) -> TestClock {
    TestClock(
      now: {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
      }, isAborted: isAborted)
  }
}
