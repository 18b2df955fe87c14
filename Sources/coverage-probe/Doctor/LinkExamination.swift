import Coverage
import Glibc
import Logging
import Networking
import Settings
import SystemServices

/// The links of a drive: whether a drive would measure each of them, and what its modem reports. Both are read by the code that drives
/// use, so that a drive decides the same.
struct LinkExamination: Sendable {
  /// What the source of the technology reports.
  enum Modem: Hashable, Sendable {
    /// `radio.source` is `none`: nothing is asked.
    case notAsked
    /// The technology that a fence would get.
    case technology(Technology)
    /// Why there is none, in the words of the drive's log.
    case unknown(reason: String)
  }

  let link: LinkSettings
  /// The link that would carry the pings.
  let reading: PathReading
  var modem = Modem.notAsked

  /// The name of the link as the beginning of a line; empty for the only one.
  var place: String { link.name.map { "link \($0): " } ?? "" }
  /// Whether a drive sends pings by this link.
  var isMeasured: Bool { reading.obstacle == nil || isDeclaredNone }
  /// Whether there is a route although `network.source` says that there is no network, or cannot be read: a drive counts lost pings there,
  /// and answered ones as well.
  private var isDeclaredNone: Bool { reading.path == .offline && reading.link == nil && reading.way != nil }

  init(_ link: LinkSettings, reading: PathReading, modem: Modem = .notAsked) {
    (self.link, self.reading, self.modem) = (link, reading, modem)
  }

  /// - Parameter destination: The host to which the drive looks for a route at first: that of the control server.
  init(_ link: LinkSettings, destination: String?) {
    self.init(link, reading: Self.monitor(link, to: destination).current)
  }

  /// Reads the link that carries packets to `destination` as a drive does.
  static func monitor(_ link: LinkSettings, to destination: String?) -> PathMonitor {
    PathMonitor(
      source: link.network, interface: link.interface, destination: destination,
      logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() })
  }

  // MARK: Modem

  /// A modem that reports is heard within a second; a program may take longer.
  private static let patience: Duration = .seconds(4)

  /// Listens to the source of the technology, until it reports one or says why it cannot, or for ``patience``.
  func listened() async -> LinkExamination {
    var examined = self
    examined.modem = await heard()
    return examined
  }

  private func heard() async -> Modem {
    switch link.radio {
    case .none: return .notAsked
    case .command(let path):
      if let trouble = Self.trouble(ofProgram: path) { return .unknown(reason: "radio.source: \(path): \(trouble)") }
    case .fixed, .auto, .modemManager: break
    }
    let (answers, deliver) = AsyncStream<Modem>.makeStream()
    let lines = LastLine { deliver.yield(.unknown(reason: $0)) }
    let monitor = RadioMonitor(
      source: link.radio, interface: link.interface, mayConfigure: false, logger: Logger(label: "doctor") { _ in lines }
    )
    let listening = Task {
      await monitor.run { reading in
        if let technology = reading.technology { deliver.yield(.technology(technology)) }
      }
    }
    let waiting = Task {
      // Cancelled when there is an answer.
      try? await Task.sleep(for: Self.patience)
      deliver.finish()
    }
    defer { [listening, waiting].forEach { $0.cancel() } }
    for await answer in answers { return answer }
    return .unknown(reason: "radio.source: no technology within \(Int(Self.patience.inSeconds)) s")
  }

  private static func trouble(ofProgram path: String) -> String? {
    guard access(path, X_OK) == 0 else { return String(cString: strerror(errno)) }
    // A folder passes for a program by its mode.
    return access(path + "/.", F_OK) == 0 ? "it is a folder" : nil
  }

  /// Passes on each line of a log.
  private struct LastLine: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    let report: @Sendable (String) -> Void

    init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { report("\(event.message)") }
  }

  // MARK: Judgement

  /// The findings of all links of a drive: it can be recorded while one of them is measured.
  static func findings(of links: [LinkExamination]) -> [Finding] {
    let isAnyMeasured = links.contains(where: \.isMeasured)
    return links.flatMap { isAnyMeasured && !$0.isMeasured ? $0.findings.map(\.lowered) : $0.findings }
  }

  var findings: [Finding] { [ofLink, ofModem].compactMap { $0 } }

  private var ofLink: Finding {
    if case .file(let path) = link.network, access(path, R_OK) != 0 {
      let reason = String(cString: strerror(errno))
      return Finding(
        isDeclaredNone ? .warning : .fault, .link,
        "\(place)network.source: \(path): \(reason): the link counts as none",
        advice: "write cellular, wifi or none into it, or use auto")
    }
    guard let obstacle = reading.obstacle else { return Finding(.good, .link, "\(place)\(reading)") }
    return Finding(isDeclaredNone ? .warning : .fault, .link, "\(place)\(obstacle)", advice: reading.advice)
  }

  /// Never a fault: a drive measures without a technology.
  private var ofModem: Finding? {
    guard isMeasured else { return nil }
    switch modem {
    case .notAsked:
      return Finding(
        .note, .link, "\(place)fences get no radio technology: radio.source is none",
        advice: "set radio.source: auto, which asks ModemManager where it is")
    case .technology(let technology): return Finding(.good, .link, "\(place)the technology is \(technology.name)")
    case .unknown(let reason):
      let isOptional = link.radio == .auto
      return Finding(
        isOptional ? .note : .warning, .link, "\(place)\(reason): the technology stays unknown", advice: adviceOfModem)
    }
  }

  private var adviceOfModem: String {
    if case .command(let path) = link.radio { return "run \(path) by hand: chmod +x, or the path of a program" }
    return "`mmcli -L` lists the modems, `mmcli -m any` shows their state; docs/radio.md"
  }
}
