import Coverage
import Driving
import Foundation
import Submission

/// The service's state in the Prometheus text format.
struct ServiceMetrics {
  private var metrics = MetricsText()

  var text: String { metrics.text }

  init(_ status: ServiceStatus, process: ProcessFigures? = .own) {
    add("recording", status.state == .recording, "1 while a drive is being recorded.")
    add("clock_set", status.isClockSet, "1 if some clock shows a possible time.")
    if let ahead = status.clock?.hostAhead {
      add("host_clock_ahead_seconds", ahead.inSeconds, "How far the host's clock is ahead of the selected clock.")
    }
    addDrives(status)
    addPosition(status)
    addQueue(status)
    add("disk_full", status.disk.isFull, "1 while that disk is full.")
    add("disk_trouble", status.disk.trouble != nil, "1 while part of the drive cannot be written.")
    add("unsaved_fences", status.disk.unsavedFences, "Fences that are in memory only.")
    if let sender = status.sender { addSender(sender) }
    if let process { addProcess(process) }
  }

  /// The counters are totals of all drives since the start of the service, so that they never decrease.
  private mutating func addDrives(_ status: ServiceStatus) {
    let totals = status.totals.sorted { $0.key < $1.key }.map { (labels: Self.labels($0.key), totals: $0.value) }
    func samples(_ value: (DriveTotals) -> Int) -> [(labels: [MetricsText.Label], value: String)] {
      totals.map { ($0.labels, "\(value($0.totals))") }
    }
    metrics.add(
      "coverage_probe_pings_total", "counter", "Pings with a known result since the start of the service.",
      samples(\.pings))
    metrics.add(
      "coverage_probe_pings_lost_total", "counter", "Of these, those without an answer in time.", samples(\.lost))
    metrics.add(
      "coverage_probe_pings_unsent_total", "counter", "Pings that the host could not send, not among the others.",
      samples(\.unsent))
    metrics.add(
      "coverage_probe_pings_late_total", "counter", "Of the lost ones, those answered after the timeout.",
      samples(\.late))
    metrics.add(
      "coverage_probe_pings_placed_total", "counter",
      "Pings by where they count, some seconds after their result: fence, outside (of all fences), paused (on Wi-Fi).",
      totals.flatMap { labels, totals in
        [("fence", totals.places.inFences), ("outside", totals.places.outside), ("paused", totals.places.paused)]
          .map { (labels: labels + [("place", $0.0)], value: "\($0.1)") }
      })
    metrics.add("coverage_probe_fences_total", "counter", "Fences since the start of the service.", samples(\.fences))
    metrics.addHistogram(
      "coverage_probe_ping_delay_seconds", "Round-trip times of the answered pings (RFC 2681).",
      totals.map { labels, totals in
        let bounds = DelayHistogram.bounds.map { "\(Double($0) / 1e9)" }
        return (
          labels, zip(bounds, totals.delays.cumulative).map { ($0, $1) },
          "\(Double(totals.delays.sumNanoseconds) / 1e9)", totals.delays.count
        )
      })
    metrics.add(
      "coverage_probe_technology_info", "gauge", "1, with the radio technology of a running drive.",
      status.links.map { link in
        (Self.labels(link.link ?? "") + [("technology", (link.technology ?? .none).name)], "1")
      })
    metrics.add(
      "coverage_probe_warnings", "gauge", "Reasons why a running drive does not measure.",
      status.links.map { (Self.labels($0.link ?? ""), "\($0.warnings.count)") })
  }

  /// The label of a link; none for the only link.
  private static func labels(_ link: String) -> [MetricsText.Label] { link.isEmpty ? [] : [("link", link)] }

  private mutating func addPosition(_ status: ServiceStatus) {
    if let age = status.receiver.fixAge {
      add("position_age_seconds", age.inSeconds, "Since the last position arrived.")
    }
    if let accuracy = status.receiver.fix?.accuracy {
      add("position_accuracy_meters", accuracy, "Accuracy of the last position: 68 % radius.")
    }
  }

  private mutating func addQueue(_ status: ServiceStatus) {
    if status.disk.isStoreReadable { addWaiting(status) }
    if let bytes = status.disk.stateBytes {
      add("state_bytes", bytes, "Size of the state directory: store, drive logs and reserve.")
    }
    if let free = status.disk.freeBytes {
      add("disk_free_bytes", free, "Bytes that may still be written to the disk of the state directory.")
    }
  }

  private mutating func addWaiting(_ status: ServiceStatus) {
    add("waiting_sessions", status.waiting.sessions, "Sessions that wait to be sent.")
    add("waiting_fences", status.waiting.fences, "Fences that wait to be sent.")
    if let oldest = status.waiting.oldest {
      add(
        "oldest_waiting_session_timestamp_seconds", Double(oldest.microseconds) / 1e6,
        "When the oldest session that waits to be sent began, since 1970.")
    }
    add("quarantined_fences", status.waiting.quarantined, "Fences that the server refused, or may have.")
    add("fences_without_session", status.waiting.withoutSession, "Fences whose session is missing.")
  }

  private mutating func addSender(_ sender: SenderStatus) {
    let breaker = sender.breaker
    add("breaker_open", breaker.state == .open, "1 while the circuit breaker lets no request leave.")
    add("breaker_half_open", breaker.state == .halfOpen, "1 during the circuit breaker's trial.")
    add("breaker_step", breaker.step, "Openings of the circuit breaker since the last success.")
    add("breaker_refusals", breaker.refusals, "Answers 429 in a row while it is closed.")
    add(
      "next_attempt_seconds", Double(sender.nextAttemptInMilliseconds) / 1000,
      "Seconds until a request may leave; 0: now.")
  }

  /// With the names of Prometheus's client libraries, without this program's prefix.
  private mutating func addProcess(_ process: ProcessFigures) {
    func add(_ name: String, _ type: String, _ help: String, _ value: String) {
      metrics.add("process_\(name)", type, help, [([], value)])
    }
    add("cpu_seconds_total", "counter", "Processor time of all threads.", "\(process.processorSeconds)")
    add("resident_memory_bytes", "gauge", "Memory in RAM.", "\(process.residentBytes)")
    add("virtual_memory_bytes", "gauge", "Address space.", "\(process.virtualBytes)")
    if let descriptors = process.descriptors { add("open_fds", "gauge", "Open descriptors.", "\(descriptors)") }
  }

  private mutating func add(_ name: String, _ isTrue: Bool, _ help: String) { add(name, isTrue ? 1 : 0, help) }

  /// Adds a gauge without labels, with this program's prefix.
  private mutating func add(_ name: String, _ value: some Numeric, _ help: String) {
    metrics.add("coverage_probe_\(name)", "gauge", help, [([], "\(value)")])
  }
}

/// This process's resources (proc(5)), named as in Prometheus's client libraries.
struct ProcessFigures: Hashable, Sendable {
  /// User and system time of all threads, in seconds.
  let processorSeconds: Double
  /// Memory in RAM, in bytes.
  let residentBytes: Int64
  /// Address space, in bytes.
  let virtualBytes: Int64
  /// Open descriptors; `nil` when they cannot be listed.
  let descriptors: Int?

  /// The figures of this process; `nil` when the kernel does not show them.
  static var own: ProcessFigures? {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8) else { return nil }
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return ProcessFigures(
      stat: stat, ticksPerSecond: Double(sysconf(CInt(_SC_CLK_TCK))), pageBytes: Int64(sysconf(CInt(_SC_PAGESIZE))),
      descriptors: descriptors)
  }

  /// - Parameters:
  ///   - stat: The line of /proc/PID/stat.
  ///   - ticksPerSecond: The unit of its times; above 0.
  ///   - pageBytes: The unit of its resident memory.
  /// - Returns: `nil` for another text.
  init?(stat: String, ticksPerSecond: Double, pageBytes: Int64, descriptors: Int?) {
    // The name in the second field can have spaces and parentheses.
    guard let end = stat.lastIndex(of: ")"), ticksPerSecond > 0 else { return nil }
    let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // Counted from the state, which is field 3.
    func field(_ number: Int) -> Int64? { fields.indices.contains(number - 3) ? Int64(fields[number - 3]) : nil }
    guard let user = field(14), let system = field(15), let virtual = field(23), let pages = field(24)
    else { return nil }
    processorSeconds = (Double(user) + Double(system)) / ticksPerSecond
    (virtualBytes, residentBytes) = (virtual, pages.saturatingMultiplied(by: pageBytes))
    self.descriptors = descriptors
  }
}
