import Coverage
import Settings
import Submission

extension ControlServerClient {
  /// Why a drive needs one.
  package static let nothingToPing = "without it or pings.target.host there is nothing to ping"

  /// The configured control server.
  /// - Parameters:
  ///   - purpose: For the error when no server is configured: why one is needed.
  ///   - mayLack: Whether a configured target of the pings makes up for a missing server; then each request to the client fails.
  /// - Throws: ``ConfigurationError``, ``InputFileError``, `CAFileError`.
  package static func configured(
    _ configuration: ProbeConfiguration, for purpose: String, unlessTarget mayLack: Bool = false
  ) throws -> ControlServerClient {
    let settings = configuration.controlServer
    guard let url = settings.url else {
      if mayLack, configuration.pings.target.target != nil { return .absent(.thisHost) }
      throw ConfigurationError.missing(key: "control-server.url", purpose: purpose, file: configuration.file)
    }
    // A file that cannot be read is an error with its reason before any connection is tried.
    if let caFile = settings.caFile { _ = try InputFile.contents(caFile, limit: 1 << 24) }
    return try ControlServerClient(
      url: url, caFile: settings.caFile, requestTimeout: settings.requestTimeout, device: .thisHost)
  }
}

/// Runs `body`, and cancels it when `stop` yields. `body` decides what a cancellation ends: a pass loses nothing.
/// - Throws: Errors of `body`.
package func untilStopped<Result: Sendable>(
  by stop: AsyncStream<Void>, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let work = Task { try await body() }
  let watching = Task { for await _ in stop { work.cancel() } }
  defer { watching.cancel() }
  return try await work.value
}
