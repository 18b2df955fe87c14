import Coverage
import Foundation
import Logging
import Positioning
import Service
import Settings
import Synchronization

/// gpsd and its receivers: listens until positions are accurate, or for some seconds.
enum ReceiverExamination {
  /// The reports of gpsd so far.
  struct Heard: Hashable, Sendable {
    /// Whether gpsd has answered and the connection still exists.
    var isConnected = false
    /// gpsd's release, if it names one.
    var release: String?
    /// Why there is no connection.
    var trouble: String?
    /// The paths of gpsd's receivers; `nil` before gpsd has listed them.
    var devices: [String]?
    /// The text of gpsd's last ERROR report.
    var complaint: String?
    /// Fixes with a position.
    var fixes = 0
    /// The best accuracy of a fix so far: a 68 % radius in metres. `nil` when no fix had one.
    var best: Double?
    /// The path of the receiver that gave the last position.
    var device: String?
    /// The receiver's time minus the host's; `nil` when the two agree.
    var clockDifference: Duration?
    /// The number of refused positions by reason; `nil` when there were none.
    var refused: String?
    var satellites: Satellites?
    /// The receivers that gpsd's own configuration names, each with whether its file exists; looked up when gpsd has no receiver.
    var named: [String: Bool] = [:]
    /// The processes that have a receiver's port open; looked for when there is no position.
    var holders: [String] = []

    mutating func hear(_ event: PositioningEvent) {
      switch event {
      case .fix(let positioned):
        guard positioned.fix.coordinate != nil else { return }
        fixes += 1
        device = positioned.device ?? device
        if let accuracy = positioned.fix.accuracy { best = min(best ?? accuracy, accuracy) }
      case .status(.connected(let release)): (isConnected, self.release, trouble) = (true, release, nil)
      case .status(.disconnected(let reason)): (isConnected, trouble) = (false, reason)
      case .status(.devices(let paths)): devices = paths
      case .status(.complaint(let message)): complaint = message
      case .status(.clockDifference(let difference)): clockDifference = difference
      case .counters(let counters): refused = counters.refusals ?? refused
      case .satellites(let satellites): self.satellites = satellites
      case .status(.connecting), .status(.positioned), .status(.noFix), .clock: break
      }
    }
  }

  /// A receiver reports once a second; some need more for the first report after gpsd has opened them.
  private static let patience: Duration = .seconds(8)

  /// The largest difference of the clocks without a finding: the line of a slow receiver alone can be two seconds late.
  private static let tolerance: Duration = .seconds(3)

  /// Listens until three positions have come and one of them is accurate, until the connection fails, or for ``patience``. Looks
  /// for the holders of the ports only without a position: the search goes through all processes.
  static func listen(to receiver: GPSDConfiguration, accuracyLimit: Double) async -> Heard {
    let client = GPSD(
      configuration: receiver, logger: Logger(label: "doctor", factory: { _ in SwiftLogNoOpLogHandler() }))
    return await withTaskGroup { group in
      let heard = Mutex(Heard())
      group.addTask {
        for await event in client.events() {
          let isEnough = heard.withLock {
            $0.hear(event)
            return $0.fixes >= 3 && ($0.best ?? .infinity) <= accuracyLimit || $0.trouble != nil
          }
          if isEnough { return }
        }
      }
      group.addTask {
        // Ends early when the other task has heard enough.
        try? await Task.sleep(for: patience)
      }
      // The first task to end ends the other one.
      await group.next()
      group.cancelAll()
      await group.waitForAll()
      return heard.withLock { heard in
        if heard.isConnected, heard.devices?.isEmpty != false { heard.named = named(in: "/etc/default/gpsd") }
        if heard.fixes == 0 { heard.holders = PortHolders(of: PortHolders.ports(with: heard.devices ?? [])).lines }
        return heard
      }
    }
  }

  /// The devices that Debian's configuration of gpsd names (`DEVICES="/dev/ttyACM0 ..."`), each with whether its file exists.
  static func named(in file: String) -> [String: Bool] {
    let lines = (try? String(contentsOfFile: file, encoding: .utf8))?.split(whereSeparator: \.isNewline) ?? []
    let value = lines.last { $0.hasPrefix("DEVICES=") }?.dropFirst(8).trimmingCharacters(in: ["\"", "'"]) ?? ""
    let paths = value.split(separator: " ").map(String.init)
    return Dictionary(paths.map { ($0, access($0, F_OK) == 0) }) { first, _ in first }
  }

  // MARK: Judgement

  static func findings(_ heard: Heard, _ configuration: ProbeConfiguration) -> [Finding] {
    let place = "\(configuration.gpsd.host):\(configuration.gpsd.port)"
    guard heard.isConnected else {
      return [
        Finding(
          .fault, .receiver,
          "no gpsd at \(place): \(ForeignText.clean(heard.trouble ?? "no answer within \(patience)"))",
          advice: "systemctl start gpsd, or set gpsd.host and gpsd.port")
      ]
    }
    var findings = [
      Finding(
        .good, .receiver, "gpsd \(heard.release.map { ForeignText.clean($0) } ?? "of unknown release") at \(place)")
    ]
    if let complaint = heard.complaint {
      findings.append(Finding(.warning, .receiver, "gpsd says: \(ForeignText.clean(complaint))"))
    }
    findings.append(position(heard, configuration))
    findings += heard.holders.map { Finding(.note, .receiver, $0) }
    if let difference = heard.clockDifference, abs(difference.inSeconds) > tolerance.inSeconds {
      findings.append(
        Finding(
          .warning, .receiver,
          "the receiver's time differs from the host's by \((difference.inSeconds * 10).rounded() / 10) s",
          advice: "set the host's clock; chrony can take it from gpsd"))
    }
    return findings
  }

  private static func adviceWithoutReceiver(_ named: [String: Bool]) -> String {
    guard let (path, exists) = named.min(by: { $0.key < $1.key }) else {
      return "name it in /etc/default/gpsd (DEVICES=), or gpsdctl add /dev/ttyACM0"
    }
    let file = "/etc/default/gpsd names \(ForeignText.clean(path))"
    return exists
      ? "\(file): systemctl restart gpsd, and look at `journalctl -u gpsd`; the file must be readable for the group dialout"
      : "\(file), which does not exist: plug the receiver in, or correct the name (`ls /dev/ttyACM* /dev/ttyUSB*`)"
  }

  /// The first reason why no fence can begin, or the accuracy.
  private static func position(_ heard: Heard, _ configuration: ProbeConfiguration) -> Finding {
    let paths = heard.devices ?? []
    if paths.isEmpty {
      return Finding(.fault, .receiver, "gpsd has no receiver", advice: adviceWithoutReceiver(heard.named))
    }
    if let wanted = configuration.gpsd.device, !paths.contains(wanted) {
      return Finding(
        .fault, .receiver,
        "gpsd has \(ForeignText.clean(paths.joined(separator: ", "))), but gpsd.device is \(ForeignText.clean(wanted))",
        advice: "set gpsd.device to one of them, or to null")
    }
    let names = ForeignText.clean(heard.device ?? paths.joined(separator: ", "))
    guard heard.fixes > 0 else {
      let view = heard.satellites.map { ", \($0.used) of \(counted($0.seen, "satellite")) used" } ?? ""
      let why = view + (heard.refused.map { ": positions refused: \($0)" } ?? "")
      return Finding(
        .fault, .receiver, "\(names): no usable position in \(patience)\(why)",
        advice: "give the antenna a free view of the sky and wait a minute; `cgps` shows the satellites")
    }
    let limit = configuration.location.accuracyLimit
    guard let best = heard.best else {
      return Finding(
        .fault, .receiver, "\(names): positions without an accuracy open no fence",
        advice: "use a receiver that reports its error (docs/accuracy.md)")
    }
    let text = "\(names): accuracy \(metres(best)); fences need \(metres(limit)) or better"
    guard best > limit else { return Finding(.good, .receiver, text) }
    return Finding(
      .fault, .receiver, "\(text): no fence begins",
      advice: "wait, move the antenna, or raise location.accuracy-limit")
  }

  private static func metres(_ value: Double) -> String {
    let rounded = (value * 10).rounded() / 10
    return Int(exactly: rounded).map { "\($0) m" } ?? "\(rounded) m"
  }
}
