/// An element of `fences`.
struct FenceSubmission: Sendable {
  let location: Location?
  let technologyID: Int32?
  let technology: String?
  let offsetMilliseconds: Int32?
  let durationMilliseconds: Int32?
  let radius: Int32?
  let averagePing: Double?
  let signal: Double?
  /// The element as received.
  let received: JSONValue

  struct Location: Sendable {
    let latitude, longitude, accuracy, altitude, bearing, speed: Double?
    let provider: String?
  }

  init(_ fields: Fields) throws {
    received = fields.json
    location = try fields.fields("location").map { place in
      Location(
        latitude: try place.number("latitude"), longitude: try place.number("longitude"),
        accuracy: try place.number("accuracy"), altitude: try place.number("altitude"),
        bearing: try place.number("bearing"), speed: try place.number("speed"),
        provider: try place.string("provider"))
    }
    technologyID = try fields.integer("technology_id", as: Int32.self)
    technology = try fields.string("technology")
    offsetMilliseconds = try fields.integer("offset_ms", as: Int32.self)
    durationMilliseconds = try fields.integer("duration_ms", as: Int32.self)
    radius = try fields.integer("radius", as: Int32.self)
    averagePing = try fields.number("avg_ping_ms")
    signal = try fields.number("signal")
  }

  /// The values whose columns are NOT NULL; `index` is the fence's place in the array.
  func required(_ index: Int) throws -> (latitude: Double, longitude: Double, offset: Int32, duration: Int32) {
    func missing(_ key: String) -> Refusal { .swallowed("fences[\(index)].\(key) is missing") }
    guard let location else { throw missing("location") }
    guard let latitude = location.latitude else { throw missing("location.latitude") }
    guard let longitude = location.longitude else { throw missing("location.longitude") }
    guard let offset = offsetMilliseconds else { throw missing("offset_ms") }
    guard let duration = durationMilliseconds else { throw missing("duration_ms") }
    for (key, text) in [("location.provider", location.provider), ("technology", technology)] {
      if let text, text.count > 50 { throw Refusal.swallowed("fences[\(index)].\(key) is longer than 50 characters") }
    }
    return (latitude, longitude, offset, duration)
  }
}
