import Coverage

/// A receiver as gpsd lists it.
struct GPSDDevice: Hashable, Sendable {
  /// The path of a device file, or a URL.
  let path: String
  /// `false` once gpsd has closed it: `activated` is then 0; otherwise it is an ISO date, in old versions a number.
  let isActive: Bool
  /// Seconds between two fixes; `nil` when unknown or impossible.
  let cycle: Double?
  /// The name of gpsd's driver; `nil` until gpsd knows it.
  let driver: String?

  init(path: String, isActive: Bool = true, cycle: Double? = nil, driver: String? = nil) {
    self.path = path
    self.isActive = isActive
    self.cycle = cycle
    self.driver = driver
  }

  init?(_ object: JSONObject) {
    guard let path = object.string("path") else { return nil }
    self.init(
      path: path, isActive: object.number("activated") != 0,
      cycle: object.number("cycle").flatMap { $0 > 0 ? $0 : nil },
      driver: object.string("driver").map { ForeignText.clean($0, limit: 64) })
  }
}
