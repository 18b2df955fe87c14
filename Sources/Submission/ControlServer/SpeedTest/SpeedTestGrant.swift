import Coverage
import Foundation
import Networking

/// The control server's answer to a request for a speed test (docs/protocol.md, 6.1).
public struct SpeedTestGrant: Hashable, Sendable {
  /// How a connection to the measurement server begins.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The server speaks first.
    case native = "RMBT"
    /// An HTTP upgrade.
    case http = "RMBThttp"

    /// The opening for `test_server_type`; `nil` for a type that no opening fits. Servers for WebSockets take an HTTP upgrade to RMBT too.
    init?(type: String) { self.init(rawValue: type == "RMBTws" ? "RMBThttp" : type) }
  }

  /// The identifier of the test.
  public let testUUID: String
  /// The token for the measurement server, exactly as it came.
  public let token: String
  /// The measurement server.
  public let server: HostPort
  /// Whether connections use TLS.
  public let isEncrypted: Bool
  /// How connections begin.
  public let kind: Kind
  /// The name for people.
  public let name: String?
  /// Seconds of each main phase, 1 to 30.
  public let seconds: Int
  /// Connections, 1 to 20.
  public let threads: Int
  /// The least number of pings, 1 to 200.
  public let pings: Int
  /// The time to wait before the test begins, up to 60 s.
  public let wait: Duration
  /// The address of the request as the server saw it; the token is good for it only. `nil` when the server gives none.
  public let remoteAddress: String?
  /// The loop, for the next request; `nil` when the server gives none.
  public let loopUUID: String?

  /// Reads the body of an answer. Numbers can be texts, and texts numbers; a text that the test does not need can be anything.
  /// - Parameter oddities: Receives how odd values were understood.
  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` when a value that the test needs is missing or wrong.
  init(_ body: Data, _ oddities: inout [String]) throws(ServerFailure) {
    let answer: Answer
    do {
      answer = try JSONDecoder().decode(Answer.self, from: body)
    } catch {
      throw .unusableAnswer("the answer to /testRequest has members of a wrong type")
    }
    testUUID = try Self.word(answer.test_uuid, "test_uuid", limit: 100)
    token = try Self.word(answer.test_token, "test_token", limit: 1000)
    let host = try Self.word(answer.test_server_address, "test_server_address", limit: 253)
    guard let port = answer.test_server_port?.number.flatMap(UInt16.init(exactly:)), port > 0 else {
      throw .unusableAnswer("test_server_port is no port")
    }
    server = HostPort(host: host, port: port)
    let type = answer.test_server_type ?? Kind.native.rawValue
    guard let kind = Kind(type: type) else {
      throw .unusableAnswer(
        "test_server_type \"\(ForeignText.clean(type, limit: 40))\" is none of RMBT, RMBThttp and RMBTws")
    }
    self.kind = kind
    isEncrypted = answer.test_server_encryption?.value ?? false
    if let encryption = answer.test_server_encryption, encryption.value == nil {
      oddities.append("the control server's test_server_encryption is neither true nor false: no TLS")
    }
    name = answer.test_server_name?.text.map { ForeignText.clean($0) }
    seconds = Self.number("test_duration", answer.test_duration, 1...30, otherwise: 7, &oddities)
    threads = Self.number("test_numthreads", answer.test_numthreads, 1...20, otherwise: 3, &oddities)
    pings = Self.number("test_numpings", answer.test_numpings, 1...200, otherwise: 10, &oddities)
    wait = .seconds(Self.number("test_wait", answer.test_wait, 0...60, otherwise: 0, &oddities))
    remoteAddress = answer.client_remote_ip?.text.map { ForeignText.clean($0, limit: 60) }
    loopUUID = answer.loop_uuid?.text.flatMap { $0.isEmpty ? nil : $0 }
    let texts = [
      ("test_server_name", answer.test_server_name), ("client_remote_ip", answer.client_remote_ip),
      ("loop_uuid", answer.loop_uuid),
    ]
    for (name, value) in texts where value != nil && value?.text == nil {
      oddities.append("the control server's \(name) is no text: ignored")
    }
  }

  /// The identifier of the test in an answer that is of no other use; `nil` when there is none.
  static func testUUID(in body: Data) -> String? {
    struct Identifier: Decodable { let test_uuid: String? }
    let identifier = try? JSONDecoder().decode(Identifier.self, from: body)
    return try? word(identifier?.test_uuid, "test_uuid", limit: 100)
  }

  /// A value that is one printable word.
  private static func word(_ text: String?, _ name: String, limit: Int) throws(ServerFailure) -> String {
    guard let text, !text.isEmpty else { throw .unusableAnswer("no \(name)") }
    guard text.utf8.count <= limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusableAnswer("\(name) is not one word of at most \(limit) printable characters")
    }
    return text
  }

  /// The default of docs/protocol.md, 6.1, replaces a missing value or one outside of its range: the test is still of use.
  private static func number(
    _ name: String, _ value: NumberOrText?, _ range: ClosedRange<Int64>, otherwise: Int, _ oddities: inout [String]
  ) -> Int {
    guard let value else { return otherwise }
    if let number = value.number, range.contains(number) { return Int(number) }
    oddities.append(
      "the control server's \(name) is not within \(range.lowerBound) to \(range.upperBound): \(otherwise) in its place"
    )
    return otherwise
  }

  private struct Answer: Decodable {
    let test_uuid: String?
    let test_token: String?
    let test_server_address: String?
    let test_server_port: NumberOrText?
    let test_server_encryption: TruthOrText?
    let test_server_type: String?
    let test_server_name: TextOrOther?
    let test_duration: NumberOrText?
    let test_numthreads: NumberOrText?
    let test_numpings: NumberOrText?
    let test_wait: NumberOrText?
    let client_remote_ip: TextOrOther?
    let loop_uuid: TextOrOther?
  }
}

/// A truth value that some servers send as text or number.
struct TruthOrText: Decodable {
  /// `nil` for a value that is no truth value.
  let value: Bool?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let truth = try? container.decode(Bool.self) {
      value = truth
    } else if let text = try? container.decode(String.self) {
      value = ["true": true, "1": true, "false": false, "0": false][text.lowercased()]
    } else {
      value = (try? container.decode(Int64.self)).flatMap { [0: false, 1: true][$0] }
    }
  }
}
