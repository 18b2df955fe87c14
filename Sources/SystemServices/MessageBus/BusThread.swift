import Foundation
import Glibc

/// A thread of its own for a client of a bus, which waits in calls.
package enum BusThread {
  /// Runs `body` on a new thread, and returns when `body` has ended. When the task is cancelled, `wake` is woken: `body` has to
  /// return then.
  /// - Parameter wake: Ends the waits of `body`.
  package static func run(until wake: WakePipe, _ body: @escaping @Sendable () -> Void) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thread = Thread {
          body()
          continuation.resume()
        }
        thread.stackSize = 256 << 10
        thread.start()
      }
    } onCancel: {
      wake.wake()
    }
  }
}

/// Ends a thread's wait for a descriptor, from any thread. Once awake it stays so.
package final class WakePipe: Sendable {
  private let reading: CInt
  private let writing: CInt

  /// Without descriptors left in the process it is awake from the start: nothing waits for a wake that cannot come.
  package init() {
    var ends: [CInt] = [-1, -1]
    // A pair of sockets, since Swift cannot call pipe2.
    _ = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends)
    (reading, writing) = (ends[0], ends[1])
  }

  /// Whether there were descriptors for it.
  package var isUsable: Bool { reading >= 0 }

  deinit {
    for end in [reading, writing] where end >= 0 { close(end) }
  }

  package func wake() {
    var byte: UInt8 = 1
    // A full pipe is awake.
    if writing >= 0 { _ = write(writing, &byte, 1) }
  }

  package var isAwake: Bool {
    var own = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    return reading < 0 || poll(&own, 1, 0) > 0
  }

  /// Waits until the other descriptor is ready, the deadline passes, or ``wake()`` is called.
  package func wait(at other: pollfd?, until deadline: ContinuousClock.Instant?) {
    var all = [pollfd(fd: reading, events: Int16(POLLIN), revents: 0)] + (other.map { [$0] } ?? [])
    let left = deadline.map { max(.zero, $0 - .now) }
    // Rounded up: waking a moment too early would poll again and again.
    let milliseconds = left.map { CInt(clamping: Int64(($0 + .microseconds(999)) / .milliseconds(1))) }
    _ = poll(&all, nfds_t(all.count), milliseconds ?? -1)
  }
}
