/// A configuration that was read again while the service runs.
public struct ConfigurationReload {
  /// The new configuration, with the old values of settings that need a restart.
  public let configuration: ProbeConfiguration
  /// Log lines, one for each kind of change.
  public let lines: [String]

  /// Compares two configurations by the texts of their settings: another spelling of the same value, such as `60s` for `1m`, is a
  /// change too.
  public init(from old: ProbeConfiguration, to new: ProbeConfiguration) {
    let changed = Setting.all.filter { old.texts[$0.key] != new.texts[$0.key] }
    var merged = new
    for setting in changed where setting.reload == .restart {
      setting.copy(old, &merged)
      // The next reload reports the change again.
      merged.texts[setting.key] = old.texts[setting.key]
    }
    configuration = merged
    lines =
      changed.isEmpty
      ? ["the configuration is read again; nothing has changed in it"]
      : [Setting.Reload.atOnce, .nextDrive, .restart].compactMap { when in
        let keys = changed.filter { $0.reload == when }.map(\.key)
        return keys.isEmpty ? nil : "the configuration is read again; \(when.rawValue): \(keys.joined(separator: ", "))"
      }
  }
}
