import Coverage
import OrderedJSON

/// A line of a drive log: the clock from which the drive's times come from this line on. Replay ignores it; `clock_set` moves times.
public struct ClockNote: Hashable, Sendable {
  /// When the selection was made.
  public let at: DriveTime
  /// The clock that is selected: `gnss`, `server` or `host`.
  let ruledBy: String
  /// The reason, in one line.
  public let because: String
  /// The clocks that agree with it.
  public let agreeing: [String]
  /// The clocks that contradict it.
  public let contradicting: [String]
  /// How far the host's clock is ahead of the drive's time; `nil` when unknown.
  public let hostAhead: Duration?

  var json: JSON {
    .object([
      "at": .seconds(at),
      "clock": .object([
        "ruled_by": .string(ruledBy),
        "because": .string(because),
        "agreeing": agreeing.isEmpty ? nil : .array(agreeing.map(JSON.string)),
        "contradicting": contradicting.isEmpty ? nil : .array(contradicting.map(JSON.string)),
        "host_ahead": hostAhead.map(JSON.seconds),
      ]),
    ])
  }
}

extension ClockNote {
  /// - Parameter hostLead: How far the host's clock is ahead of the drive's time.
  public init(selection: ClockSelection, hostLead: Duration?, at: DriveTime) {
    self.init(
      at: at, ruledBy: selection.source.rawValue, because: selection.reason.rawValue,
      agreeing: selection.agreeing.map(\.rawValue), contradicting: selection.contradicting.map(\.rawValue),
      hostAhead: hostLead)
  }

  /// The value of the key `clock`.
  struct Value: Decodable {
    private let ruledBy: String
    private let because: String?
    private let agreeing: [String]?
    private let contradicting: [String]?
    private let hostAhead: Double?

    private enum CodingKeys: String, CodingKey {
      case because, agreeing, contradicting
      case ruledBy = "ruled_by"
      case hostAhead = "host_ahead"
    }

    func note(at: DriveTime) -> ClockNote {
      ClockNote(
        at: at, ruledBy: ruledBy, because: because ?? "", agreeing: agreeing ?? [], contradicting: contradicting ?? [],
        hostAhead: hostAhead.flatMap { DriveTime(seconds: $0, limit: 1e10)?.sinceStart })
    }
  }
}

/// A line of a drive log behind its end: what became of the drive's capture, so that a reader knows what the files lack.
public struct CaptureNote: Hashable, Sendable, Decodable {
  /// Packets in the files, removed ones included.
  let packets: Int64
  private let droppedByKernel: Int64
  private let droppedByInterface: Int64
  private let unwritten: Int64

  private enum CodingKeys: String, CodingKey {
    case packets, unwritten
    case droppedByKernel = "dropped_by_kernel"
    case droppedByInterface = "dropped_by_interface"
  }

  /// - Parameters:
  ///   - packets: Packets in the files, removed ones included.
  ///   - droppedByKernel: Packets that the kernel dropped.
  ///   - droppedByInterface: Packets that the interface dropped.
  ///   - unwritten: Packets that the disk refused.
  public init(packets: Int64, droppedByKernel: Int64, droppedByInterface: Int64, unwritten: Int64) {
    (self.packets, self.unwritten) = (packets, unwritten)
    (self.droppedByKernel, self.droppedByInterface) = (droppedByKernel, droppedByInterface)
  }

  /// The number of packets that are in no file.
  public var missing: Int64 {
    droppedByKernel.saturatingAdding(droppedByInterface).saturatingAdding(unwritten)
  }

  var json: JSON {
    .object([
      "at": .seconds(DriveTime.start),
      "capture": .object([
        "packets": .integer(packets), "dropped_by_kernel": .integer(droppedByKernel),
        "dropped_by_interface": .integer(droppedByInterface), "unwritten": .integer(unwritten),
      ]),
    ])
  }
}
