import CLibssl
import Foundation

/// A line of the measurement server, parsed but not judged: ``Conversation`` decides whether it may come now (docs/protocol.md, 7.2).
enum ServerLine: Hashable, Sendable {
  /// The version without `RMBTv`.
  case greeting(version: String)
  /// The commands that the server takes next; their order has no meaning.
  case accept([String])
  case chunkSizes(ChunkSizes)
  /// The time of the server in ns; `bytes` received until then only in interim reports of PUT.
  case time(nanoseconds: Int64, bytes: Int64?)
  case ok, err, pong, bye

  /// Larger numbers are refused: as ns they are 104 days, and sums of them could overflow.
  private static let greatest: Int64 = 1 << 53

  /// Parses a line without its LF.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for any other text, with its first 60 characters.
  init(_ text: String) throws(SpeedTestError) {
    let words = text.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("OK", 1): self = .ok
    case ("ERR", 1): self = .err
    case ("PONG", 1): self = .pong
    case ("BYE", 1): self = .bye
    case ("ACCEPT", 2...): self = .accept(Array(words.dropFirst()))
    case ("CHUNKSIZE", 2), ("CHUNKSIZE", 4):
      var numbers: [Int64] = []
      for word in words.dropFirst() { numbers.append(try Self.number(word, text)) }
      self = .chunkSizes(try ChunkSizes(numbers))
    // The form with BYTES first: a match of the prefix alone would take it for the last one (edge 18).
    case ("TIME", 4) where words[2] == "BYTES":
      self = .time(nanoseconds: try Self.number(words[1], text), bytes: try Self.number(words[3], text))
    case ("TIME", 2): self = .time(nanoseconds: try Self.number(words[1], text), bytes: nil)
    case (let word?, 1) where word.hasPrefix("RMBTv"):
      // By its prefix only: versions have two or three parts, and newer ones are to be tried (edge 6).
      self = .greeting(version: String(word.dropFirst(5)))
    default: throw .protocolError("\"\(text.prefix(60))\"")
    }
  }

  /// Decimal digits without a sign.
  /// - Parameter line: The whole line, for the error.
  private static func number(_ word: String, _ line: String) throws(SpeedTestError) -> Int64 {
    guard word.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(word), value <= greatest else {
      throw .protocolError("\"\(line.prefix(60))\"")
    }
    return value
  }
}

/// The HTTP request that opens RMBThttp, and its answer. After status 101 both sides speak plain lines (docs/protocol.md, 7.1).
enum Upgrade {
  /// The request, to be sent in one write, with nothing behind its empty line (docs/protocol.md, edge 2).
  /// Servers compare `Upgrade: RMBT` literally, with one blank.
  static func request(host: String, port: UInt16) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return "GET /rmbt HTTP/1.1\r\nHost: \(host):\(port)\r\nConnection: Upgrade\r\nUpgrade: RMBT\r\n"
      + "RMBT-Version: 1.2.0\r\n\r\n"
  }

  /// - Parameter head: The lines of the head; the first one has the status.
  /// - Throws: ``SpeedTestError/upgradeRefused(_:)`` unless the status is 101.
  static func check(_ head: [String]) throws(SpeedTestError) {
    let status = head.first ?? ""
    guard status.hasPrefix("HTTP/1."), status.split(separator: " ").dropFirst().first == "101" else {
      throw .upgradeRefused(String(status.prefix(60)))
    }
  }
}

/// Makes tokens for a measurement server whose secret is known, as a control server does (docs/protocol.md, 7.4).
public enum LabToken {
  /// Version 1: `uuid_seconds_base64(HMAC-SHA1)`.
  /// - Parameters:
  ///   - secret: The key that the measurement server has; its bytes in UTF-8.
  ///   - uuid: The open test's, in lower case and without its `O`.
  ///   - unixSeconds: The start time. Servers accept the token until 90 s after it, and wait up to 20 s for it.
  public static func version1(secret: String, uuid: String, unixSeconds: Int64) -> String {
    let text = "\(uuid)_\(unixSeconds)"
    return text + "_" + Data(code(EVP_sha1(), secret, Array(text.utf8))).base64EncodedString()
  }

  /// The HMAC of `message`.
  private static func code(_ digest: OpaquePointer?, _ secret: String, _ message: [UInt8]) -> [UInt8] {
    let key = Array(secret.utf8)
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = HMAC(digest, key, Int32(clamping: key.count), message, message.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }
}
