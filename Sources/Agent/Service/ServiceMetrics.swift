import Submission

/// The service's state in the Prometheus text format, version 0.0.4.
struct ServiceMetrics {
  private(set) var text = ""

  init(_ status: ServiceStatus) {
    add("recording", status.state == .recording, "1 while a drive is being recorded.")
    add("clock_set", status.isClockSet, "1 if some clock shows a possible time.")
    if let ahead = status.clock?.hostAhead {
      add("host_clock_ahead_seconds", ahead.inSeconds, "How far the host's clock is ahead of the ruling clock.")
    }
    add("waiting_sessions", status.waiting.sessions, "Sessions that wait to be sent.")
    add("waiting_fences", status.waiting.fences, "Fences that wait to be sent.")
    add("quarantined_fences", status.waiting.quarantined, "Fences that the server refused.")
    add("fences_without_session", status.waiting.withoutSession, "Fences whose session is missing.")
    if let free = status.disk.freeBytes {
      add("disk_free_bytes", free, "Bytes that may still be written to the disk of the state directory.")
    }
    add("disk_full", status.disk.isFull, "1 while that disk is full.")
    add("disk_trouble", status.disk.trouble != nil, "1 while part of the drive cannot be written.")
    add("unsaved_fences", status.disk.unsavedFences, "Fences that are in memory only.")
    guard let sender = status.sender else { return }
    let breaker = sender.breaker
    add("breaker_open", breaker.state == .open, "1 while the circuit breaker lets no request leave.")
    add("breaker_half_open", breaker.state == .halfOpen, "1 during the circuit breaker's trial.")
    add("breaker_step", breaker.step, "Openings of the circuit breaker since the last success.")
    add("breaker_refusals", breaker.refusals, "Answers 429 in a row while it is closed.")
    add(
      "next_attempt_seconds", Double(sender.nextAttemptInMilliseconds) / 1000,
      "Seconds until a request may leave; 0: now.")
  }

  private mutating func add(_ name: String, _ isTrue: Bool, _ help: String) { add(name, isTrue ? 1 : 0, help) }

  private mutating func add(_ name: String, _ value: some Numeric, _ help: String) {
    let metric = "coverage_probe_\(name)"
    text += "# HELP \(metric) \(help)\n# TYPE \(metric) gauge\n\(metric) \(value)\n"
  }
}
