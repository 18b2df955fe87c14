import Coverage
import OrderedJSON

/// The request that submits fences of one session (docs/protocol.md, 3.5).
struct CoverageResult: Hashable, Sendable {
  /// The client UUID of this device's registration.
  let clientUUID: String
  /// The test to which the fences belong.
  let testUUID: String
  /// The wall time of the drive's start.
  let driveStarted: WallTime
  /// The drive time of the anchor; the offsets of the fences are relative to it.
  let anchor: DriveTime
  /// In order of entry: the server uses the position of the first fence as the test's. Open fences are left out.
  let fences: [Fence]
  /// How often the result was sent before.
  var retries = 0
  /// Why the test ended, in the reference app's words; `nil` when that is not known.
  var terminationCause: String?
  /// The address of this host from which the pings left, with which the server recognises a NAT; `nil` when it is not known.
  var localAddress: String?

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "test_uuid": .string(testUUID),
        "client_uuid": .string(clientUUID),
        "uuid": .string(clientUUID),
        "submission_retry_count": .integer(Int64(retries)),
        "test_ip_local": localAddress.map(ColumnText.address),
        "termination_cause": terminationCause.map { ColumnText.json($0, ColumnText.name) },
      ]) + device.members + network + radioInfo + JSON.members(["fences": .array(fences.compactMap(json))]))
  }

  /// The network type, that of the first fence as in the reference app, and the network and the SIM, from the last fences whose modem named
  /// them; the server keeps one of each for a test (docs/protocol.md, 3.5).
  private var network: [JSON.Member] {
    let type =
      fences.lazy.compactMap { $0.technology == Technology.none ? nil : $0.technology?.id }.first.map(Int64.init)
    let reports = fences.compactMap(\.radio).filter(\.isOfModem)
    let visited = reports.last { $0.operatorCode != nil }
    let sim = reports.last { $0.simOperatorCode != nil }
    let network = MobileNetwork(
      operatorCode: visited?.operatorCode, operatorName: visited?.operatorName, simOperatorCode: sim?.simOperatorCode,
      simOperatorName: sim?.simOperatorName, isRoaming: reports.isEmpty ? nil : reports.contains(where: \.isRoaming))
    return JSON.members(["network_type": .integer(type ?? NetworkType.cellular)]) + network.members
  }

  /// The serving cell of each fence, with its lowest levels, and the cells beside it.
  private var radioInfo: [JSON.Member] {
    var info = RadioInfo(testUUID: testUUID)
    for fence in fences where fence.duration != nil {
      guard let radio = fence.radio, radio.isOfModem else { continue }
      // After a handover within a fence, its lowest levels can be those of another cell than the last one.
      let levels = radio.cellChanges == 0 ? radio.levels.map { ($0.quantity, $0.minimum) } : []
      info?.add(
        radio.cell, fence.technology, levels: Dictionary(levels) { first, _ in first },
        environment: radio.environment, at: fence.entered - anchor)
    }
    return info?.members ?? []
  }

  /// `nil` for an open fence: the server fails on a fence without `duration_ms`.
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
      "signal": fence.radio?.minimumLevel(of: fence.technology).map(JSON.number),
    ])
  }

  /// `value` within 32 bits, the width of the server's columns; a damaged store can hold any value.
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
