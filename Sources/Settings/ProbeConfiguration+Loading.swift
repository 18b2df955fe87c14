import Foundation

extension ProbeConfiguration {
  /// Reads the settings: environment over files over defaults.
  /// - Parameters:
  ///   - file: A YAML file; those of the folder `conf.d` beside it follow it. `nil` for none.
  ///   - defaults: The values of settings that neither files nor the environment set.
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
