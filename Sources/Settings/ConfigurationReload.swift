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
    // The control server's URL needs a restart: pings that the old one cannot serve wait for it.
    let target = (old: old.pings.target.host, new: new.pings.target.host)
    let needsServer = old.controlServer.url == nil && target.old != nil && target.new == nil
    let needsOtherServer = old.controlServer.hostOfOtherFamily(than: new.pings.family) != nil
    func effect(_ setting: Setting) -> Setting.Reload {
      needsServer && setting.key.hasPrefix("pings.target.") || needsOtherServer && setting.key == "pings.ip-version"
        ? .restart : setting.reload
    }
    var merged = new
    for setting in changed where effect(setting) == .restart {
      setting.copy(old, &merged)
      // The next reload reports the change again.
      merged.texts[setting.key] = old.texts[setting.key]
    }
    configuration = merged
    lines =
      changed.isEmpty
      ? ["the configuration is read again; nothing has changed in it"]
      : [Setting.Reload.atOnce, .nextDrive, .restart].compactMap { when in
        let keys = changed.filter { effect($0) == when }.map(\.key)
        return keys.isEmpty ? nil : "the configuration is read again; \(when.rawValue): \(keys.joined(separator: ", "))"
      }
  }
}
