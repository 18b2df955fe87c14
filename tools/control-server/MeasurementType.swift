import ArgumentParser

/// How a connection to the measurement server starts.
enum MeasurementType: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
  /// The server speaks first.
  case native = "RMBT"
  /// The client asks for an HTTP upgrade.
  case http = "RMBThttp"
}
