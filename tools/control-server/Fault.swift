/// A deliberate fault of the server.
enum Fault: Hashable, Sendable {
  /// No fault: lets requests pass before a later fault of the same path.
  case none
  /// Answers with this status and an `error` body, without carrying the request out.
  case status(Int)
  /// 429 or 503 with this Retry-After, seconds or a date, not carried out.
  case retryAfter(status: Int, String)
  /// 200 with an empty body, not carried out.
  case empty
  /// 200 with an HTML page, not carried out.
  case html
  /// 302 to this URL, as captive portals do; not carried out.
  case redirect(String)
  /// 200 with entries in `error`, not carried out.
  case error
  /// A TCP reset instead of an answer, not carried out.
  case reset
  /// No answer for this number of seconds, then the connection is closed; not carried out.
  case hang(Double)
  /// Carried out and committed, then the connection is closed without an answer.
  case dropAnswer
  /// Carried out and committed, then answered like `status`, as by a gateway that repeats requests.
  case stored(status: Int)
  /// Carried out at once, answered after this number of seconds.
  case slow(Double)
  /// Carried out after this number of seconds, even if the client has gone.
  case late(Double)
  /// 200 with an empty body if the request's body contains this text, not carried out; otherwise no fault.
  case emptyIf(String)

  /// The longest `hang`, `slow` and `late` in seconds, so that every request ends.
  static let longest = 3600.0

  static let help = """
    none, a status from 400 to 599, 429-retry-after:SECONDS_OR_DATE, 503-retry-after:SECONDS_OR_DATE, empty, html, \
    redirect:URL, error, reset, hang:SECONDS, drop-answer, stored:STATUS, slow:SECONDS, late:SECONDS, empty-if:TEXT
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
    case ("stored", let value?):
      // 204 has no body, as a proxy's answer that was emptied.
      guard let status = value == "204" ? 204 : Self.status(value) else { return nil }
      self = .stored(status: status)
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
      guard let status = Self.status(number) else { return nil }
      self = .status(status)
    default: return nil
    }
  }

  private static func status(_ text: String) -> Int? { Int(text).flatMap { (400...599).contains($0) ? $0 : nil } }

  private static func isHeader(_ value: String) -> Bool {
    !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
  }

  private static func seconds(_ text: String) -> Double? {
    guard let seconds = Double(text), seconds >= 0, seconds <= longest else { return nil }
    return seconds
  }

  /// The text that `init` reads.
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
    case .stored(let status): "stored:\(status)"
    case .slow(let seconds): "slow:\(seconds)"
    case .late(let seconds): "late:\(seconds)"
    case .emptyIf(let text): "empty-if:\(text)"
    }
  }
}
