import Coverage
import OrderedJSON

/// Registers the device, or says that it is still there (spec 4.2).
struct SettingsRequest {
  let clientUUID: String?
  let device: Device

  var json: JSON {
    .object(
      JSON.members([
        "uuid": .string(clientUUID ?? ""),
        "terms_and_conditions_accepted": true,
        "terms_and_conditions_accepted_version": 6,
      ]) + device.members)
  }
}

/// Asks for a test: a place for fences, and a token for the pings (spec 4.3).
public struct CoverageRequest: Hashable, Sendable {
  public let clientUUID: String
  /// The loop of the session before, when this one continues a drive.
  public let loopUUID: String?
  /// The server adds the offsets of the fences to this very time, to the millisecond.
  public let time: WallTime

  public init(clientUUID: String, loopUUID: String?, time: WallTime) {
    self.clientUUID = clientUUID
    self.loopUUID = loopUUID
    self.time = time
  }

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "client_uuid": .string(clientUUID),
        "uuid": .string(clientUUID),
        "loop_uuid": loopUUID.map(JSON.string),
        "time": .integer(time.milliseconds),
        "measurement_type_flag": "dedicated",
      ]) + device.members)
  }
}

/// Hands over the fences of one session (spec 4.4).
public struct CoverageResult: Hashable, Sendable {
  public let clientUUID: String
  public let testUUID: String
  /// The wall time of the drive's start.
  public let driveStarted: WallTime
  public let anchor: DriveTime
  /// In order of entry: the server takes the first one's position for the test's.
  public let fences: [Fence]

  public init(clientUUID: String, testUUID: String, driveStarted: WallTime, anchor: DriveTime, fences: [Fence]) {
    self.clientUUID = clientUUID
    self.testUUID = testUUID
    self.driveStarted = driveStarted
    self.anchor = anchor
    self.fences = fences
  }

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "test_uuid": .string(testUUID),
        "client_uuid": .string(clientUUID),
        "uuid": .string(clientUUID),
      ]) + device.members + JSON.members(["fences": .array(fences.compactMap(json))]))
  }

  /// `nil` for a fence that is still open: one without `duration_ms` makes the server fail.
  private func json(_ fence: Fence) -> JSON? {
    guard let duration = fence.duration else { return nil }
    let technology = fence.technology ?? .none
    return .object([
      "timestamp_microseconds": .integer((driveStarted + fence.entered).microseconds),
      "location": Self.location(fence),
      "technology": technology.isKnown ? .string(technology.name) : nil,
      "technology_id": technology.id.map { .integer(Int64($0)) },
      "offset_ms": .integer((fence.entered - anchor).inMilliseconds),
      "duration_ms": .integer(duration.inMilliseconds),
      "radius": .integer(Self.int32(fence.radius)),
      "avg_ping_ms": fence.meanRTTNanoseconds.map { .decimal(units: $0.saturatingAdding(5_000) / 10_000, places: 2) },
    ])
  }

  /// The server's columns are that wide; a damaged store may hold anything.
  private static func int32(_ value: Double) -> Int64 {
    value.isNaN ? 0 : Int64(min(max(value, Double(Int32.min)), Double(Int32.max)))
  }

  private static func location(_ fence: Fence) -> JSON {
    let fix = fence.fix
    return .object([
      "latitude": .number(fence.centre.latitude),
      "longitude": .number(fence.centre.longitude),
      "accuracy": fix.accuracy.flatMap { $0 > 0 ? JSON.rounded($0, places: 1) : nil },
      "altitude": fix.altitude.flatMap { JSON.rounded($0, places: 1) },
      "bearing": fix.course.map { .integer(Self.int32($0.rounded()) % 360) },
      "speed": fix.speed.flatMap { JSON.rounded($0, places: 2) },
      "provider": "gps",
    ])
  }
}

/// The body of a request that hands over fences.
public struct PreparedResult: Hashable, Sendable {
  let text: String
  let clientUUID: String
}
