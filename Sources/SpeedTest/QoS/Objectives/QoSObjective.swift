import Foundation
import OrderedJSON

/// One QoS test that the control server asks for.
struct QoSObjective: Hashable, Sendable {
  /// The number of the test at the control server, `qos_test_uid`; the result repeats it.
  let uid: Int64
  let kind: QoSTestKind
  /// `concurrency_group`, 0 when it is absent. Groups run in ascending order, the tests of one group in parallel.
  let group: Int64
  /// All parameters of the objective; each test reads its own.
  let parameters: QoSParameters

  /// `nil` without `qos_test_uid`: no result could be assigned to it.
  init?(_ kind: QoSTestKind, _ parameters: QoSParameters) {
    guard let uid = parameters.number("qos_test_uid") else { return nil }
    (self.uid, self.kind, self.parameters) = (uid, kind, parameters)
    group = parameters.number("concurrency_group") ?? 0
  }

  /// The server of the test; `nil` when it needs none, or when none is named.
  var server: QoSServer? { kind.needsServer ? QoSServer(parameters) : nil }
}

/// The parameters of one QoS test, by name. Servers send every value as text; numbers are read as well (docs/protocol.md, edge 45).
struct QoSParameters: Hashable, Sendable {
  /// The texts as they came, numbers in decimal.
  private let values: [String: String]

  /// - Parameter object: A JSON object as Foundation reads it. Values that are neither text nor numbers are left out.
  init(_ object: [String: Any]) {
    values = object.compactMapValues { value in
      switch value {
      case let text as String: text
      case let number as NSNumber: number.stringValue
      default: nil
      }
    }
  }

  /// The text of a parameter without blanks around it; `nil` when it is absent or empty.
  func text(_ name: String) -> String? {
    guard let text = values[name]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    return text
  }

  /// The whole number of a parameter; `nil` when it is absent, no number, has a fraction or is out of `range`.
  func number(_ name: String, in range: ClosedRange<Int64> = .min ... .max) -> Int64? {
    guard let text = text(name) else { return nil }
    // Double reads hexadecimal and words, too.
    let isDecimal = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
    let number = Int64(text) ?? (isDecimal ? Double(text).flatMap { Int64(exactly: $0) } : nil)
    return number.flatMap { range.contains($0) ? $0 : nil }
  }

  /// A port from 1 to 65535; `nil` for other values.
  func port(_ name: String) -> UInt16? { number(name, in: 1...65535).map(UInt16.init) }

  /// A time in ns, moved into `range`: 0.1 to 60 s unless the test says otherwise. `standard` when it is absent or no number.
  func time(_ name: String, standard: Int64, in range: ClosedRange<Int64> = 100_000_000...60_000_000_000) -> Int64 {
    min(max(number(name) ?? standard, range.lowerBound), range.upperBound)
  }

  /// The parameter as a result repeats it: a number where it is one, else its text; `nil` when it is absent.
  func json(_ name: String) -> JSON? { number(name).map(JSON.integer) ?? text(name).map(JSON.string) }

  /// Those of `names` that are there, as members of a result: `prefix` stands before each name.
  func members(_ prefix: String, _ names: String...) -> [JSON.Member] {
    names.compactMap { name in json(name).map { JSON.Member(prefix + name, $0) } }
  }
}

/// A QoS server: the name or address and the port of its control connection.
struct QoSServer: Hashable, Sendable {
  let host: String
  let port: UInt16

  /// `nil` when the parameters name no server.
  init?(_ parameters: QoSParameters) {
    guard let host = parameters.text("server_addr"), let port = parameters.port("server_port") else { return nil }
    (self.host, self.port) = (host, port)
  }
}

/// The types of QoS tests that can be run here, as the control server names them.
enum QoSTestKind: String, Hashable, Sendable, CaseIterable {
  case tcp, udp, voip
  case nonTransparentProxy = "non_transparent_proxy"
  case httpProxy = "http_proxy"
  case dns
  /// A plain fetch of the page: no browser renders it.
  case website
  case traceroute
  /// A traceroute whose result leaves out the last part of the addresses.
  case tracerouteMasked = "traceroute_masked"

  var needsServer: Bool {
    switch self {
    case .tcp, .udp, .voip, .nonTransparentProxy: true
    case .httpProxy, .dns, .website, .traceroute, .tracerouteMasked: false
    }
  }
}
