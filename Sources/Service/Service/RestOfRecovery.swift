import Driving
import Settings
import Synchronization

/// A recovery from the drive logs that was cut short because a drive came first: it goes on between two drives.
struct RestOfRecovery {
  private var isLeft: Bool
  private var task: Task<Void, Never>?
  private let stop = Stop()

  /// Asked by the recovery before each log.
  private final class Stop: Sendable {
    let isAsked = Atomic(false)
  }

  init(isLeft: Bool) { self.isLeft = isLeft }

  /// Goes on if there are logs left. No drive may run.
  /// - Parameter onEnd: Called once, with whether logs are left again; ``ended(isLeft:)`` must follow.
  mutating func resume(
    in environment: DriveEnvironment, _ configuration: ProbeConfiguration,
    onEnd: @escaping @Sendable (_ isLeft: Bool) -> Void
  ) {
    guard isLeft, task == nil else { return }
    stop.isAsked.store(false, ordering: .relaxed)
    task = Task { [stop] in
      onEnd(await environment.recoverRest(configuration) { stop.isAsked.load(ordering: .relaxed) })
    }
  }

  /// Stops before the next log, and waits until then.
  func pause() async {
    stop.isAsked.store(true, ordering: .relaxed)
    await task?.value
  }

  /// The recovery that ``resume(in:_:onEnd:)`` began has ended.
  mutating func ended(isLeft: Bool) { (self.isLeft, task) = (isLeft, nil) }
}
