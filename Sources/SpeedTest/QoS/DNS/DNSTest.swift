import Foundation
import Networking
import OrderedJSON
import Pinging

/// A query to a resolver: the objective's, or the system's first. getaddrinfo would hide the code, the records and their time to
/// live.
struct DNSTest: QoSTest {
  struct Finding: Sendable {
    let answer: DNSAnswer
    /// ns from the start of the test to the answer; resolving the name of a resolver is in it.
    let duration: Int64
  }

  private let host: String?
  private let resolver: String?
  /// `nil` for a type that cannot be asked for.
  private let record: DNSRecordType?
  private let port: UInt16
  let limit: Int64
  let objective: [JSON.Member]

  /// - Parameter port: The port of a resolver that has none in its text; other than 53 only in tests of this program.
  init(_ parameters: QoSParameters, port: UInt16 = 53) {
    host = parameters.text("host")
    resolver = parameters.text("resolver")
    record = DNSRecordType(name: parameters.text("record") ?? parameters.text("dns_record") ?? "A")
    self.port = port
    limit = parameters.time("timeout", standard: 5_000_000_000)
    objective = JSON.members([
      "dns_objective_host": parameters.json("host"), "dns_objective_resolver": parameters.json("resolver") ?? .null,
      "dns_objective_dns_record": parameters.json("record") ?? parameters.json("dns_record"),
      "dns_objective_timeout": parameters.json("timeout"),
    ])
  }

  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding {
    guard let host, let record, let query = DNSQuery(host, record, id: .random(in: 0 ... .max)) else {
      throw .protocolError("a DNS test without a name, or for another record than can be asked for")
    }
    guard let resolver = resolver ?? ResolverFile.first() else {
      throw .unresolved(NameError(name: "the system's resolver", reason: "\(ResolverFile.path) names none"))
    }
    let start = context.now
    let waiting = context.waiting(limit)
    // A resolver that the objective names need not have the family of the QoS server.
    let place = HostPort(resolver: resolver, standard: port)
    let addresses = try Addresses(host: place.host, port: place.port, family: nil)
    guard let address = addresses.list.first else {
      throw .unresolved(NameError(name: place.host, reason: "it has no address"))
    }
    // A resolver on this device is on no other interface than loopback.
    let interface = address.isLoopback ? nil : context.interface
    var answer = try ask(query, address, waiting, interface, context.traffic)
    if answer.isTruncated { answer = try askByTCP(query, addresses, waiting, interface, context.traffic) }
    return Finding(answer: answer, duration: context.now - start)
  }

  /// Asks by UDP. A packet may be lost, so the query is sent at the start and after one and two thirds of the time. Packets that
  /// are no answer to it are ignored.
  private func ask(
    _ query: DNSQuery, _ address: Addresses.Address, _ waiting: Waiting, _ interface: String?,
    _ traffic: TrafficCounter
  ) throws(SpeedTestError) -> DNSAnswer {
    // The kernel drops what comes from another address.
    let any = Addresses.Address(
      family: address.family,
      bytes: Array(address.bytes[..<2]) + [UInt8](repeating: 0, count: max(0, address.bytes.count - 2)))
    let socket = try DatagramSocket(on: any, peer: address, interface: interface, counter: traffic)
    let step = max(1, (waiting.deadline - waiting.clock.now()) / 3)
    while true {
      socket.send(query.bytes)
      let next = waiting.clock.now() + step
      while try waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: next) {
        var isRefused = false
        // Poll also reports packets that the kernel then drops as damaged.
        guard let (bytes, _) = socket.receive(onRefusal: { isRefused = true }) else {
          if isRefused { throw .unreachable("the resolver's port is closed") }
          continue
        }
        if let answer = DNSAnswer(bytes, to: query) { return answer }
      }
    }
  }

  /// Asks by TCP: the length, then the message (RFC 1035, 4.2.2).
  private func askByTCP(
    _ query: DNSQuery, _ addresses: Addresses, _ waiting: Waiting, _ interface: String?, _ traffic: TrafficCounter
  ) throws(SpeedTestError) -> DNSAnswer {
    let dialer = Dialer(waiting: waiting, interface: interface)
    let socket = CountedTransport(try dialer.connect(addresses), traffic)
    let message = [UInt8(query.bytes.count >> 8), UInt8(query.bytes.count & 0xFF)] + query.bytes
    guard try socket.write(message) == message.count else { throw .closed }
    var received: [UInt8] = []
    while true {
      let bytes = try socket.readSome()
      received += bytes
      let length = received.count < 2 ? nil : Int(received[0]) << 8 | Int(received[1])
      if let length, received.count >= 2 + length {
        guard let answer = DNSAnswer(Array(received[2..<2 + length]), to: query) else {
          throw .protocolError("the resolver's answer by TCP is damaged")
        }
        return answer
      }
      if bytes.isEmpty { _ = try waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: .max) }
    }
  }

  func members(_ finding: Finding) -> [JSON.Member] {
    let entries = finding.answer.entries.map { entry in
      JSON.object([
        "dns_result_address": .string(entry.value), "dns_result_ttl": .string("\(entry.timeToLive)"),
        "dns_result_priority": entry.priority.map { .string("\($0)") },
      ])
    }
    return JSON.members([
      "dns_result_info": .string(status(finding).rawValue), "dns_result_status": .string(finding.answer.codeName),
      "dns_result_entries": entries.isEmpty ? .null : .array(entries),
      "dns_result_entries_found": .string("\(entries.count)"), "dns_result_duration": .integer(finding.duration),
    ])
  }

  func members(without reason: QoSStatus) -> [JSON.Member] {
    JSON.members([
      "dns_result_info": .string(reason.rawValue), "dns_result_entries": .null, "dns_result_entries_found": "0",
    ])
  }
}

/// The system's resolvers (resolv.conf(5)).
enum ResolverFile {
  static let path = "/etc/resolv.conf"

  /// The addresses of the lines `nameserver`, in their order.
  static func resolvers(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      return words.count >= 2 && words[0] == "nameserver" ? String(words[1]) : nil
    }
  }

  /// The system's first resolver; `nil` when the file is missing or names none.
  static func first() -> String? {
    FileManager.default.contents(atPath: path).flatMap { resolvers(String(decoding: $0, as: UTF8.self)).first }
  }
}

extension HostPort {
  /// A resolver. Objectives of deployed servers name an address alone, and the port is 53; a lab may add a port.
  init(resolver text: String, standard: UInt16 = 53) {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    self = HostPort(text) ?? HostPort(host: isBracketed ? String(text.dropFirst().dropLast()) : text, port: standard)
  }
}
