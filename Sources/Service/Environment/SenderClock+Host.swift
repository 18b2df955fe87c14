import CPinger
import Driving
import Pinging
import Submission

extension SenderClock {
  /// The clocks of this host.
  public static var host: SenderClock {
    SenderClock(
      wall: { .current }, boot: { .nanoseconds(Int64(clamping: Pinger.now)) }, awake: { HostBoot.awake },
      maximumError: {
        var microseconds: Int64 = 0
        return cpprocess_clock_is_synchronised(&microseconds) == 1 ? .microseconds(microseconds) : nil
      }, bootID: HostBoot.id)
  }
}
