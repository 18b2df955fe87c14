import Foundation

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
