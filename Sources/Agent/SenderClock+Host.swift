import Driving
import Pinging
import Submission

extension SenderClock {
  /// The clocks of this host.
  static var host: SenderClock {
    SenderClock(
      wall: { .current }, boot: { .nanoseconds(Int64(clamping: Pinger.now)) }, awake: { HostBoot.awake },
      bootID: HostBoot.id)
  }
}
