import Coverage
import Foundation

/// The result of a drive on one link.
public struct DriveSummary: Sendable {
  /// The drive's id in the store.
  public let drive: Int64
  /// The link's name; `nil` when there is one link only.
  public let link: String?
  /// Fences of the drive.
  public let fences: Int
  /// Fences of the drive that Wi-Fi did not touch.
  public let submittableFences: Int
  /// What it has counted.
  public let totals: DriveTotals
  /// Time from start to stop.
  public let lasted: Duration
  /// Why the drive stopped.
  public let reason: StopReason
  /// The result of the capture; `nil` without one.
  public let capture: CaptureSummary?
  /// Why no ping was sent; `nil` when one was sent.
  public let silence: String?
  /// Why pings could not be sent; `nil` when all were.
  public let unsentReason: String?
  /// The user's own target, whose fences are kept here; `nil`: the control server's.
  public let target: DriveTarget?

  /// All pings of the drive.
  public var tally: PingTally { totals.tally }
}

/// Pings counted over a period.
public struct PingTally: Hashable, Sendable {
  /// Pings with a known result.
  public var pings = 0
  /// Pings answered in time.
  public var answered = 0
  /// Pings that this host could not send; they are not among ``pings``.
  public var unsent = 0
  /// The sum of the round-trip times of ``answered`` pings.
  public var rttSumNanoseconds: Int64 = 0

  /// No pings.
  public init() {}

  /// Counts one ping.
  public mutating func count(_ outcome: PingOutcome) {
    if case .unsent(let count) = outcome {
      unsent = unsent.saturatingAdding(count)
      return
    }
    pings += 1
    if case .answered(let rttNanoseconds, _) = outcome {
      answered += 1
      rttSumNanoseconds = rttSumNanoseconds.saturatingAdding(rttNanoseconds)
    }
  }

  /// The mean delay in milliseconds; `nil` without an answer.
  public var meanMilliseconds: Double? { answered > 0 ? Double(rttSumNanoseconds) / Double(answered) / 1e6 : nil }

  /// Mean delay and loss, e.g. `31.7 ms 0 % lost`, and the number of pings that could not be sent if there are any.
  public var line: String { measured + (unsent > 0 ? ", \(counted(unsent, "ping")) not sent" : "") }

  private var measured: String {
    guard pings > 0 else { return "no pings" }
    let mean = meanMilliseconds.map { "\(DecimalText.of($0, places: 1)) ms" } ?? "- ms"
    let loss = Double(pings - answered) / Double(pings) * 100
    return "\(mean) \(DecimalText.of(loss, places: loss > 0 && loss < 10 ? 1 : 0)) % lost"
  }
}
