import Coverage
import OrderedJSON

/// A line of a drive log after its header: an event, a note or a seal (docs/drive-log.md).
struct EventLine {
  /// `nil` for an event of an unknown kind, and for a line that is not an event.
  let event: Event?
  /// Of a selection of a clock.
  var clock: ClockNote?
  /// Of a ping: its sequence number on the wire, if the log has it.
  let pingSequence: UInt32?
  /// Of a seal.
  var seal: Seal?
  /// Of a mark that a session is forgotten: the number of the session.
  var forgotten: Int?
  /// Of a line about fences that the control server has.
  var accepted: AcceptedFences?
  /// Of a line about the drive's capture.
  var capture: CaptureNote?
  /// Of a modem's report: its lists of cells are those of the one before (``CellLists``).
  var hasUnchangedCells = false

  /// The `error` of a ping that the host could not send.
  private static let unsent = "unsent"

  /// The line of `event`, followed by `details`.
  static func json(_ event: Event, beside details: [JSON.Member]) -> JSON {
    let (key, value) = kind(event)
    let delivered = JSON.members(["delivered": event.delivered.map(JSON.seconds)])
    return .object([.init("at", .seconds(event.at)), .init(key, value)] + delivered + details)
  }

  private static func kind(_ event: Event) -> (key: String, value: JSON) {
    switch event.kind {
    case .fix(let fix): ("fix", json(fix))
    case .ping(.answered(let rtt, let isKernelStamped)):
      (
        "ping",
        .object(["rtt_ms": .milliseconds(nanoseconds: rtt), "stamps": isKernelStamped ? .string("kernel") : nil])
      )
    case .ping(.failed(let failure)): ("ping", .object(["error": .string(failure.rawValue)]))
    case .ping(.unsent(let count)):
      ("ping", .object(["error": .string(unsent), "count": count == 1 ? nil : .integer(Int64(count))]))
    case .unmeasured(let reason): ("unmeasured", reason.map(JSON.string) ?? .null)
    case .late(let rtt): ("late", .object(["rtt_ms": .milliseconds(nanoseconds: rtt)]))
    case .duplicate: ("duplicate", .object([]))
    case .path(let path): ("path", .string(path.rawValue))
    case .radio(let technology): ("radio", technology.map { .string($0.name) } ?? .null)
    case .modem(let reading): ("modem", reading?.json ?? .null)
    case .equipment(let equipment): ("equipment", equipment.json)
    case .session(let grant): ("session", json(grant, at: event.at))
    case .clockSet(let step): ("clock_set", .seconds(step))
    case .stop(let reason): ("stop", reason == .user ? .object([]) : .object(["reason": .string(reason.rawValue)]))
    }
  }

  private static func json(_ fix: Fix) -> JSON {
    .object([
      "latitude": fix.coordinate.map { .number($0.latitude) },
      "longitude": fix.coordinate.map { .number($0.longitude) },
      "accuracy": fix.accuracy.map(JSON.number),
      "altitude": fix.altitude.map(JSON.number),
      "course": fix.course.map(JSON.number),
      "speed": fix.speed.map(JSON.number),
    ])
  }

  private static func json(_ grant: SessionGrant, at time: DriveTime) -> JSON {
    .object([
      "test_uuid": .string(grant.testUUID),
      "anchor": grant.anchor.flatMap { $0 == time ? nil : .seconds($0) },
      "maximum_duration": grant.maximumDuration.map(JSON.seconds),
      "local_address": grant.localAddress.map(JSON.string),
      "loop_uuid": grant.loopUUID.map(JSON.string),
    ])
  }
}

extension EventLine {
  /// `nil` for a line that is not exactly a ping as ``PingLine`` reads it.
  init?(ping line: ArraySlice<UInt8>) {
    guard let ping = PingLine(line) else { return nil }
    self.init(event: ping.event, pingSequence: ping.sequence)
  }
}

extension EventLine: Decodable {
  private enum Key: String, CodingKey {
    case at, fix, ping, late, duplicate, path, unmeasured, radio, modem, equipment, session, stop, sequence, delivered,
      clock, seal
    case forgotten, accepted, capture, cells
    case clockSet = "clock_set"
  }

  init(from decoder: any Decoder) throws {
    let line = try decoder.container(keyedBy: Key.self)
    guard let at = DriveTime(seconds: try line.decode(Double.self, forKey: .at)) else {
      throw Self.wrong(.at, "not a time of a drive")
    }
    let delivered = line.contains(.fix) ? try? line.decodeIfPresent(Double.self, forKey: .delivered) : nil
    event = try Self.kind(line).map { Event(at: at, $0, delivered: delivered.flatMap { DriveTime(seconds: $0) }) }
    clock =
      event == nil && line.contains(.clock) ? try line.decode(ClockNote.Value.self, forKey: .clock).note(at: at) : nil
    seal = line.contains(.seal) ? try line.decode(Seal.self, forKey: .seal) : nil
    forgotten = line.contains(.forgotten) ? try line.decode(ForgottenValue.self, forKey: .forgotten).session : nil
    accepted = line.contains(.accepted) ? try line.decode(AcceptedFences.Value.self, forKey: .accepted).accepted : nil
    capture = line.contains(.capture) ? try line.decode(CaptureNote.self, forKey: .capture) : nil
    hasUnchangedCells =
      line.contains(.cells) && (try? line.decode(String.self, forKey: .cells)) == CellLists.unchanged
    // The number is optional: a wrong type does not invalidate the ping.
    pingSequence = line.contains(.ping) ? try? line.decodeIfPresent(UInt32.self, forKey: .sequence) : nil
  }

  private static func wrong(_ key: Key, _ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [key], debugDescription: reason))
  }

  private static func kind(_ line: KeyedDecodingContainer<Key>) throws -> Event.Kind? {
    if line.contains(.ping) { return .ping(try line.decode(PingValue.self, forKey: .ping).outcome) }
    if line.contains(.late) {
      return .late(rttNanoseconds: try line.decode(RoundTripValue.self, forKey: .late).nanoseconds)
    }
    if line.contains(.duplicate) { return .duplicate }
    if line.contains(.fix) { return .fix(try line.decodeIfPresent(FixValue.self, forKey: .fix)?.fix() ?? .lost) }
    if line.contains(.path) {
      let name = try line.decodeIfPresent(String.self, forKey: .path) ?? Path.offline.rawValue
      guard let path = Path(rawValue: name) else { throw wrong(.path, "\"\(name)\" is not cellular, wifi or none") }
      return .path(path)
    }
    if line.contains(.unmeasured) { return .unmeasured(try line.decodeIfPresent(String.self, forKey: .unmeasured)) }
    if line.contains(.radio) {
      return .radio(try line.decodeIfPresent(String.self, forKey: .radio).map(Technology.init))
    }
    if line.contains(.modem) { return .modem(try line.decodeIfPresent(ModemReading.self, forKey: .modem)) }
    if line.contains(.equipment) { return .equipment(try line.decode(ModemEquipment.self, forKey: .equipment)) }
    if line.contains(.session) { return .session(try line.decode(SessionValue.self, forKey: .session).grant()) }
    if line.contains(.clockSet) {
      guard let step = DriveTime(seconds: try line.decode(Double.self, forKey: .clockSet), limit: 1e10) else {
        throw wrong(.clockSet, "not a duration")
      }
      return .clockSet(by: step.sinceStart)
    }
    if line.contains(.stop) {
      let reason = try line.decodeIfPresent(StopValue.self, forKey: .stop)?.reason.flatMap(StopReason.init)
      return .stop(reason ?? .user)
    }
    return nil
  }
}

extension EventLine {
  /// The value of `fix`; members that are absent are unknown.
  private struct FixValue: Decodable {
    let latitude, longitude, accuracy, altitude, course, speed: Double?

    func fix() throws -> Fix {
      var coordinate: Coordinate?
      if let latitude, let longitude {
        coordinate = Coordinate(latitude: latitude, longitude: longitude)
        if coordinate == nil { throw EventLine.wrong(.fix, "\(latitude), \(longitude) is not a position on Earth") }
      }
      return Fix(coordinate: coordinate, accuracy: accuracy, altitude: altitude, course: course, speed: speed)
    }
  }

  /// The value of `ping`.
  private struct PingValue: Decodable {
    let outcome: PingOutcome

    private enum Key: String, CodingKey {
      case error, stamps, count
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      if let error = try values.decodeIfPresent(String.self, forKey: .error) {
        guard error != EventLine.unsent else {
          outcome = .unsent(count: max(1, try values.decodeIfPresent(Int.self, forKey: .count) ?? 1))
          return
        }
        outcome = .failed(PingFailure(rawValue: error) ?? .network)
        return
      }
      outcome = .answered(
        rttNanoseconds: try RoundTripValue(from: decoder).nanoseconds,
        isKernelStamped: try values.decodeIfPresent(String.self, forKey: .stamps) == "kernel")
    }
  }

  /// The value of `session`.
  private struct SessionValue: Decodable {
    let test_uuid: String
    let anchor, maximum_duration: Double?
    let local_address, loop_uuid: String?

    func grant() throws -> SessionGrant {
      func time(_ seconds: Double?) throws -> DriveTime? {
        try seconds.map { seconds in
          guard let time = DriveTime(seconds: seconds) else {
            throw EventLine.wrong(.session, "\(seconds) is not a time of a drive")
          }
          return time
        }
      }
      return SessionGrant(
        testUUID: test_uuid, anchor: try time(anchor),
        maximumDuration: try time(maximum_duration).flatMap { $0 > .start ? $0.sinceStart : nil },
        localAddress: local_address.map { String($0.prefix(64)) }, loopUUID: loop_uuid)
    }
  }

  /// The value of `stop`.
  private struct StopValue: Decodable {
    let reason: String?
  }

  /// The value of `forgotten`.
  private struct ForgottenValue: Decodable {
    let session: Int
  }
}

/// The lists of cells of a drive log's last `modem` line. They are long and change less often than the levels, so the line of a report with
/// the same lists has `"cells":"unchanged"` in their place. A value, for the writer and for readers.
struct CellLists: Hashable, Sendable {
  /// The marker of such a line.
  static let unchanged = "unchanged"

  private var secondaries: [MeasuredCell] = []
  private var neighbours: [MeasuredCell] = []

  /// Without any: the next line names its own.
  init() {}

  private init(_ reading: ModemReading?) {
    (secondaries, neighbours) = (reading?.secondaries ?? [], reading?.neighbours ?? [])
  }

  /// The line of `event`, which comes after the last one.
  mutating func line(of event: Event, beside details: [JSON.Member]) -> JSON {
    guard case .modem(let reading) = event.kind else { return EventLine.json(event, beside: details) }
    let next = CellLists(reading)
    defer { self = next }
    guard var reading, next == self, next != CellLists() else { return EventLine.json(event, beside: details) }
    (reading.secondaries, reading.neighbours) = ([], [])
    return EventLine.json(
      Event(at: event.at, .modem(reading)), beside: [JSON.Member("cells", .string(Self.unchanged))] + details)
  }

  /// The event of a line, which comes after the last one, with its lists.
  mutating func event(of line: EventLine) -> Event? {
    guard let event = line.event, case .modem(var reading) = event.kind else { return line.event }
    if line.hasUnchangedCells {
      reading?.secondaries = secondaries
      reading?.neighbours = neighbours
    }
    self = CellLists(reading)
    return Event(at: event.at, .modem(reading))
  }
}
