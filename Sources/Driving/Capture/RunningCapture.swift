import Coverage
import Evidence

/// A capture beside some pings: follows them to other hosts and ports, says when it is in trouble, and sums up at its end.
public struct RunningCapture: Sendable {
  private let settings: CaptureSettings
  private let capture: PacketCapture
  private var trouble = CaptureTrouble()
  private var followed: [CaptureFlow] = []

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

  public var isInTrouble: Bool { trouble.current != nil }

  /// Captures `flows` from now on; `nil`: what it did before. Called once a second it repeats what failed.
  /// - Returns: A line about trouble that is new.
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

  /// Completes the files, which takes half a second.
  public mutating func close() -> CaptureSummary {
    let state = capture.close()
    return CaptureSummary(settings: settings, state: state, troubles: trouble.count)
  }
}
