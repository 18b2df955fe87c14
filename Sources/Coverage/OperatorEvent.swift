/// Events of the service that operators filter the journal for. The identifiers never change (docs/service.md, journald's `MESSAGE_ID`).
public enum OperatorEvent: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// The service accepts commands.
  case serviceStarted = "service-started"
  /// A drive begins, with its reason.
  case driveBegan = "drive-began"
  /// A drive cannot begin; it is tried again.
  case driveNotBegun = "drive-not-begun"
  /// A drive has ended, with its figures; a line a link.
  case driveEnded = "drive-ended"
  /// A pass has sent fences.
  case fencesSent = "fences-sent"
  /// A pass ended before it had sent everything.
  case passFailed = "pass-failed"
  /// The control server refuses this device.
  case deviceRefused = "device-refused"
  /// The control server refused fences for good; they stay stored.
  case fencesQuarantined = "fences-quarantined"
  /// The state of the circuit breaker has changed.
  case circuitBreaker = "circuit-breaker"
  /// Gpsd or its receiver came, went, or has another state.
  case receiver = "receiver"
  /// The technology cannot be known any more, with the reason, or is known again: ModemManager, the modem, its SIM, a program.
  case modem = "modem"
  /// Another clock is selected, the host's clock is off, or the times of a drive move.
  case clock = "clock"
  /// Damage of the store was found or repaired.
  case storeDamage = "store-damage"
  /// Part of a drive is not on the disk, or all of it is again.
  case diskTrouble = "disk-trouble"
  /// A part of the service makes no progress; systemd restarts it.
  case noProgress = "no-progress"
  /// The host is about to sleep, or awake again.
  case sleep = "sleep"

  /// A speed test has ended, with its figures or the reason why it has none.
  case speedTestEnded = "speed-test-ended"
  /// A speed test of a loop is due and cannot start.
  case loopHeld = "loop-held"
  /// The control server refused a speed test for good; it stays stored.
  case speedTestQuarantined = "speed-test-quarantined"

  /// The key of a log line's metadata whose value is an event.
  public static let key = "event"

  /// The name of the event.
  public var description: String { rawValue }

  /// 128 bits as 32 hexadecimal digits (sd_journal_print(3)).
  public var messageID: String {
    switch self {
    case .serviceStarted: "5557f558cf6c4e2cb71698e7fee89933"
    case .driveBegan: "288722afd99942b8bf696036c9f0edc0"
    case .driveNotBegun: "1405ef8feec44c9ba0212092cf506958"
    case .driveEnded: "d49c78f2e393404593b041fe2c272717"
    case .fencesSent: "6fa28ad8fd674366a2d75ed6a8ef9348"
    case .passFailed: "13ef67b716d54bc6adb1e65604d2541a"
    case .deviceRefused: "33221e9b37e049bdbe4effeb24a0ef40"
    case .fencesQuarantined: "637d4fa0e8164993933ebfc10dd017e5"
    case .circuitBreaker: "be590feac14a40f288bfe41e7bcd3481"
    case .receiver: "1a40a4893266435aade344dfd4d3ff6d"
    case .modem: "dea37a57531745a3966feb1e2a36d1d1"
    case .clock: "c03f661480d74173b6daa03a608dbe15"
    case .storeDamage: "9c7fcf837d844a6da7c75a6b2c4ca0b7"
    case .diskTrouble: "4cc6af27335b478ba702a6b09dda73f7"
    case .noProgress: "3a9d1f0ed0db4c339ec5b8c8e304e927"
    case .sleep: "c3c53be806444e5d96e564d1c63d1bd2"
    case .speedTestEnded: "d8fe95d4214444b18d8e39795bda66dd"
    case .loopHeld: "6c7f4031da5f42faa722aca84b80d37e"
    case .speedTestQuarantined: "f9efcb3754114b879eea24a08aa1d4ba"
    }
  }
}
