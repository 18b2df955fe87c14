import Coverage

/// Reads `Retry-After` (RFC 9110, 10.2.3): seconds, or a date.
enum RetryAfter {
  /// The upper limit: some servers send numbers beyond the range of any clock.
  static let longest: Duration = .seconds(366 * 86_400)

  /// - Parameters:
  ///   - text: The header's value.
  ///   - date: The `Date` of the same response. A date is compared with it, because the clocks of server and host can differ.
  /// - Returns: The wait from the response on; `nil` for zero or a past date, for other text, and for a date in a response without a `Date`.
  static func wait(_ text: String, date: String?) -> Duration? {
    requested(text.trimming(), date).flatMap { $0 > .zero ? min($0, longest) : nil }
  }

  private static func requested(_ text: String, _ date: String?) -> Duration? {
    if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
      return Int64(text).map { .seconds(min($0, 1 << 40)) } ?? longest
    }
    guard let until = HTTPDate.time(text), let now = date.flatMap(HTTPDate.time) else { return nil }
    return until - now
  }
}
