import Coverage

/// A capture beside pings: follows them to other hosts and ports, reports trouble, and returns a summary when it
/// closes.
public struct RunningCapture: Sendable {
  private let settings: CaptureSettings
  private let capture: PacketCapture
  private var trouble = CaptureTrouble()
  private var followed: [CaptureFlow] = []

  /// Opens the capture and its first file; captures nothing yet.
  /// - Throws: ``CaptureRefusal``
  public init(_ settings: CaptureSettings) throws(CaptureRefusal) {
    self.settings = settings
    capture = try settings.open()
  }

  /// Captures `flows` from now on.
  /// - Throws: `CaptureError`
  public mutating func begin(_ flows: [CaptureFlow]) throws(CaptureError) {
    try capture.follow(flows)
    followed = flows
  }

  /// Whether packets may be missing at present.
  var isInTrouble: Bool { trouble.current != nil }

  /// Captures `flows` from now on; `nil`: the same as before. Must be called once a second, to repeat what failed and
  /// to notice trouble.
  /// - Returns: A line about new or ended trouble.
  public mutating func follow(_ flows: [CaptureFlow]?) -> String? {
    guard let flows, flows != followed else { return trouble.note(capture.state.trouble) }
    do {
      try capture.follow(flows)
      followed = flows
      return trouble.note(capture.state.trouble)
    } catch {
      return trouble.note(error.description)
    }
  }

  /// Completes the files. Blocks for half a second, for packets that are still on their way.
  public mutating func close() -> CaptureSummary {
    let state = capture.close()
    return CaptureSummary(settings: settings, state: state, troubles: trouble.count)
  }
}

/// Why a capture is incomplete, reported once when the trouble begins and once when it ends. A pure value.
struct CaptureTrouble: Hashable, Sendable {
  /// How many times trouble began.
  private(set) var count = 0
  private(set) var current: String?

  /// - Parameter reason: The present trouble; `nil` for none.
  /// - Returns: A line for the log, if the trouble has changed.
  mutating func note(_ reason: String?) -> String? {
    guard reason != current else { return nil }
    current = reason
    guard let reason else { return "the packet capture works again; packets in between are missing" }
    count += 1
    return "the packet capture failed: \(reason); the drive goes on, the capture is incomplete"
  }
}
