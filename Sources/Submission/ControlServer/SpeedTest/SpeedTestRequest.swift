import Coverage
import OrderedJSON

/// The request for a speed test (/testRequest; docs/protocol.md, 6.1).
public struct SpeedTestRequest: Hashable, Sendable {
  /// The loop that a test belongs to.
  public struct Loop: Hashable, Sendable {
    /// The loop as the server named it; `nil` for the first test of a loop.
    public var uuid: String?
    /// The number of this test, from 1.
    public var number: Int
    /// The number of tests in the loop.
    public var count: Int
    /// The waiting time; `nil` when time does not count.
    public var every: Duration?
    /// The distance in metres; `nil` when distance does not count.
    public var distance: Double?

    /// A place in a loop.
    public init(uuid: String?, number: Int, count: Int, every: Duration?, distance: Double?) {
      (self.uuid, self.number, self.count, self.every, self.distance) = (uuid, number, count, every, distance)
    }
  }

  /// The client UUID of this device's registration.
  public var clientUUID: String
  /// Now, sent to the millisecond.
  public var time: WallTime
  /// The loop; `nil` for a single test.
  public var loop: Loop?
  /// The position, with its age; `nil` when it is not known.
  public var place: SpeedTestPlace?
  /// 4 or 6: the version of the internet protocol that the measurement is to use; `nil`: the server decides.
  public var family: IPVersion?

  /// A request for a single test.
  public init(clientUUID: String, time: WallTime) { (self.clientUUID, self.time) = (clientUUID, time) }

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "uuid": .string(clientUUID),
        "client_uuid": .string(clientUUID),
        "time": .integer(time.milliseconds),
        "measurement_type_flag": loop == nil ? "regular" : "loop_active",
        "user_loop_mode": .bool(loop != nil),
        "protocol_version": family.map { $0 == .ipv4 ? "ipv4" : "ipv6" },
        "testCounter": loop.map { .integer(Int64($0.number)) },
        "location": place.map(location),
        "loopmode_info": loop.map(Self.loop),
      ]) + device.members)
  }

  private func location(_ place: SpeedTestPlace) -> JSON {
    .object([
      "lat": .number(place.latitude), "long": .number(place.longitude),
      "accuracy": place.accuracy.flatMap { JSON.rounded($0, places: 1) },
      "altitude": place.altitude.flatMap { JSON.rounded($0, places: 1) },
      "bearing": place.course.flatMap { JSON.rounded($0, places: 1) },
      "speed": place.speed.flatMap { JSON.rounded($0, places: 2) }, "provider": "gps",
      "time": .integer(place.time.milliseconds),
      "age": .integer(max(0, (time - place.time).inMilliseconds)),
    ])
  }

  /// Minutes, as the apps send them.
  private static func loop(_ loop: Loop) -> JSON {
    .object([
      "max_delay": .integer(loop.every.map { $0.inMilliseconds / 60_000 } ?? 0),
      "max_movement": .integer(Int64(min(max(loop.distance ?? 0, 0), 1e9).rounded())),
      "max_tests": .integer(Int64(loop.count)), "test_counter": .integer(Int64(loop.number)),
      "loop_uuid": loop.uuid.map(JSON.string),
    ])
  }
}
