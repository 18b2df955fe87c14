import Foundation

extension ProbeConfiguration {
  /// Reads the settings: environment over file over defaults.
  /// - Parameters:
  ///   - file: A YAML file; `nil` for none.
  ///   - defaults: The values of settings that neither sets.
  /// - Throws: The first ``ConfigurationError`` of a ``ConfigurationReading``.
  public static func load(
    file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    defaults: ProbeConfiguration = ProbeConfiguration()
  ) throws(ConfigurationError) -> ProbeConfiguration {
    let reading = ConfigurationReading(file: file, environment: environment, defaults: defaults)
    if let mistake = reading.mistakes.first { throw mistake }
    return reading.configuration
  }
}
