import Foundation

/// What a server answered.
public struct FetchAnswer: Sendable {
  /// 100 to 999.
  public internal(set) var status = 0
  /// In their order, as they came.
  public internal(set) var headers: [(name: String, value: String)] = []
  /// Decoded; at most ``FetchRequest/longestBody`` bytes.
  public internal(set) var body = Data()
  /// Whether the body was longer than ``FetchRequest/longestBody``.
  public internal(set) var isCutOff = false
  /// Bytes, without those of TLS.
  public internal(set) var traffic = Traffic()
  /// The certificates of an inspection, the server's own first, with their times as OpenSSL prints them: `Feb  1 00:00:00 2020 GMT`.
  public internal(set) var certificates: [(begin: String, end: String)] = []

  /// The value of the first header of this name, in upper or lower case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.caseInsensitiveCompare(name) == .orderedSame }?.value
  }

  /// The bytes of a transfer.
  public struct Traffic: Hashable, Sendable {
    /// Of the request.
    public internal(set) var sent = 0
    /// Of head and body, as they came.
    public internal(set) var received = 0

    /// Bytes of both directions.
    public init(sent: Int = 0, received: Int = 0) { (self.sent, self.received) = (sent, received) }
  }
}
