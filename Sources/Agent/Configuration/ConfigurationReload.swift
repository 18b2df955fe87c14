/// A configuration that was read again while the service runs.
struct ConfigurationReload {
  /// What counts from now on: the new configuration, as far as it can be followed.
  let configuration: ProbeConfiguration
  /// One line for each kind of change, for the log.
  let lines: [String]

  init(from old: ProbeConfiguration, to new: ProbeConfiguration) {
    let changed = Setting.all.filter { old.texts[$0.key] != new.texts[$0.key] }
    var merged = new
    merged.stateDirectory = old.stateDirectory
    merged.controlServer = old.controlServer
    merged.gpsd = old.gpsd
    merged.location.maximumSpeed = old.location.maximumSpeed
    merged.exclusionZones = old.exclusionZones
    merged.submission = old.submission
    merged.storage = old.storage
    merged.agent.socket = old.agent.socket
    merged.agent.resendInterval = old.agent.resendInterval
    // So that a change that has to wait is told again with the next reload.
    for setting in changed where setting.reload == .restart { merged.texts[setting.key] = old.texts[setting.key] }
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
