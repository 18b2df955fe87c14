/// A fault that the server commits on request.
enum Fault: Hashable, Sendable {
  /// Nothing wrong; lets requests through before a later fault of the same path.
  case none
  /// Answers with this status and an `error` body, without carrying the request out.
  case status(Int)
  /// 429 or 503 with this Retry-After, seconds or a date, not carried out.
  case retryAfter(status: Int, String)
  /// 200 with an empty body, not carried out.
  case empty
  /// 200 with an HTML page, not carried out.
  case html
  /// 302 to this place, as captive portals do; not carried out.
  case redirect(String)
  /// 200 with entries in `error`, not carried out.
  case error
  /// A TCP reset instead of an answer, not carried out.
  case reset
  /// Silence for so many seconds, then the connection is closed; not carried out.
  case hang(Double)
  /// Carried out and committed, then the connection is closed without an answer.
  case dropAnswer
  /// Carried out at once, answered after so many seconds.
  case slow(Double)
  /// Carried out after so many seconds, whether the client is still there or not.
  case late(Double)
  /// 200 with an empty body where the request's body has this text in it, not carried out; else nothing wrong.
  case emptyIf(String)

  /// Longest `hang`, `slow` and `late`, so that no request stays for ever.
  static let longest = 3600.0

  static let help = """
    none, a status from 400 to 599, 429-retry-after:SECONDS_OR_DATE, 503-retry-after:SECONDS_OR_DATE, empty, html, \
    redirect:URL, error, reset, hang:SECONDS, drop-answer, slow:SECONDS, late:SECONDS, empty-if:TEXT
    """

  /// Reads `reset`, `503`, `hang:20`, `429-retry-after:Wed, 21 Oct 2026 07:28:00 GMT`.
  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let argument = parts.count > 1 ? parts[1] : nil
    switch (parts[0], argument) {
    case ("none", nil): self = .none
    case ("empty", nil): self = .empty
    case ("html", nil): self = .html
    case ("error", nil): self = .error
    case ("reset", nil): self = .reset
    case ("drop-answer", nil): self = .dropAnswer
    case ("429-retry-after", let value?) where Self.isHeader(value): self = .retryAfter(status: 429, value)
    case ("503-retry-after", let value?) where Self.isHeader(value): self = .retryAfter(status: 503, value)
    case ("redirect", let value?) where Self.isHeader(value): self = .redirect(value)
    case ("hang", let value?):
      guard let seconds = Self.seconds(value) else { return nil }
      self = .hang(seconds)
    case ("slow", let value?):
      guard let seconds = Self.seconds(value) else { return nil }
      self = .slow(seconds)
    case ("late", let value?):
      guard let seconds = Self.seconds(value) else { return nil }
      self = .late(seconds)
    case ("empty-if", let value?) where !value.isEmpty: self = .emptyIf(value)
    case (let number, nil):
      guard let status = Int(number), (400...599).contains(status) else { return nil }
      self = .status(status)
    default: return nil
    }
  }

  private static func isHeader(_ value: String) -> Bool {
    !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  private static func seconds(_ text: String) -> Double? {
    guard let seconds = Double(text), seconds >= 0, seconds <= longest else { return nil }
    return seconds
  }

  /// As `init` reads it.
  var text: String {
    switch self {
    case .none: "none"
    case .status(let status): String(status)
    case .retryAfter(let status, let value): "\(status)-retry-after:\(value)"
    case .redirect(let place): "redirect:\(place)"
    case .empty: "empty"
    case .html: "html"
    case .error: "error"
    case .reset: "reset"
    case .hang(let seconds): "hang:\(seconds)"
    case .dropAnswer: "drop-answer"
    case .slow(let seconds): "slow:\(seconds)"
    case .late(let seconds): "late:\(seconds)"
    case .emptyIf(let text): "empty-if:\(text)"
    }
  }
}

/// A fault, the endpoint that commits it, and how often.
struct PlannedFault: Hashable, Sendable {
  /// An endpoint such as `coverageResult`, or `*` for all.
  let path: String
  let fault: Fault
  /// How many requests are left to go wrong; `nil`: until cleared.
  var count: Int?

  init(path: String, fault: Fault, count: Int? = nil) {
    self.path = path
    self.fault = fault
    self.count = count
  }

  /// Reads the flag `PATH:FAULT[:COUNT]`. The last part is the count where the rest still is a fault: `hang:20` hangs
  /// for 20 s without limit, `hang:20:3` three times.
  init?(flag: String) {
    let parts = flag.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    path = parts[0]
    if let colon = parts[1].lastIndex(of: ":"), let count = Int(parts[1][parts[1].index(after: colon)...]), count > 0,
      let fault = Fault(String(parts[1][..<colon]))
    {
      self.fault = fault
      self.count = count
    } else if let fault = Fault(parts[1]) {
      self.fault = fault
    } else {
      return nil
    }
  }

  var json: JSONValue { ["path": .string(path), "fault": .string(fault.text), "count": JSONValue(count)] }
}

/// The faults to come, in the order in which they were asked for.
actor FaultPlan {
  private(set) var planned: [PlannedFault]

  init(_ planned: [PlannedFault] = []) { self.planned = planned }

  func add(_ fault: PlannedFault) { planned.append(fault) }

  /// Clears the faults of `path`, or all of them.
  func clear(path: String? = nil) {
    planned.removeAll { path == nil || $0.path == path }
  }

  /// The fault for a request to `path`, counted as used. The first one planned goes first.
  func next(for path: String) -> Fault {
    guard let index = planned.firstIndex(where: { $0.path == path || $0.path == "*" }) else { return .none }
    let fault = planned[index].fault
    if let count = planned[index].count {
      if count > 1 { planned[index].count = count - 1 } else { planned.remove(at: index) }
    }
    return fault
  }
}
