import Coverage
import Foundation

/// Says why a certificate is not trusted, from the times of the certificates that the server presents: they show the difference
/// between an old certificate and an unknown authority, and a wrong clock of this host.
enum Distrust {
  /// - Parameter certificates: The server's own first, with times as OpenSSL prints them.
  /// - Returns: The reason in one line; `nil` when there is no certificate.
  static func reason(
    _ certificates: [(begin: String, end: String)],
    now: WallTime = WallTime(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
  ) -> String? {
    guard let own = certificates.first else { return nil }
    let clock = "this host's clock says \(now.iso8601Seconds)"
    if let index = certificates.firstIndex(where: { time($0.end).map { $0 < now } ?? false }),
      let end = time(certificates[index].end)
    {
      let which = index == 0 ? "its certificate" : "the certificate of an intermediate authority"
      return "\(which) expired on \(end.iso8601Seconds); \(clock)"
    }
    if let begin = time(own.begin), begin > now {
      return "its certificate is not valid before \(begin.iso8601Seconds); \(clock)"
    }
    return
      "its certificate is not trusted: neither the system nor control-server.ca-file knows the authority that issued it"
  }

  /// `Feb  1 00:00:00 2020 GMT`.
  private static func time(_ text: String) -> WallTime? {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 5, parts[4] == "GMT" else { return nil }
    return HTTPDate.time(day: parts[1], month: parts[0], year: parts[3], clock: parts[2])
  }
}
