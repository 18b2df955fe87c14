import Foundation
import OrderedJSON
import Synchronization
import TestSupport
import Testing

@testable import SpeedTest

/// The DNS test against its own resolver on loopback.
@Suite struct DNSTestTests {
  /// Answers UDP packets by a script.
  private final class Resolver: Sendable {
    let port: UInt16
    private let isOver = Mutex(false)

    /// - Parameter answers: The packets that answer a query, by its number from 0 on.
    init(port: UInt16 = 0, _ answers: @escaping @Sendable (Int, [UInt8]) -> [[UInt8]]) throws {
      let socket = try DatagramSocket(on: LoopbackPort.address(port))
      self.port = socket.port
      Thread.detachNewThread { [weak self] in
        var number = 0
        while self?.isOver.withLock({ $0 }) == false {
          var entry = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
          guard poll(&entry, 1, 50) > 0, let (query, sender) = socket.receive() else { continue }
          for answer in answers(number, query) { socket.send(answer, to: sender) }
          number += 1
        }
      }
    }

    deinit { isOver.withLock { $0 = true } }
  }

  /// An answer to `query` with records of 192.0.2.x, x from `addresses`.
  private static func answer(_ query: [UInt8], flags: [UInt8] = [0x81, 0x80], addresses: [UInt8] = [1]) -> [UInt8] {
    let records = addresses.flatMap { [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, $0] as [UInt8] }
    return query[..<2] + flags + [0, 1, 0, UInt8(addresses.count), 0, 0, 0, 0] + query[12...] + records
  }

  private func result(_ port: UInt16, timeout: String = "10000000000", record: String = "A") throws -> (
    QoSStatus, String
  ) {
    let parameters = QoSParameters([
      "host": "a.example", "resolver": "127.0.0.1", "record": record, "timeout": timeout,
    ])
    let (status, members) = DNSTest(parameters, port: port).result(try LoopbackPort.context())
    return (status, JSON.object(members).text)
  }

  @Test("When the resolver answers, then code, entries and their number are in the result")
  func answers() throws {
    let resolver = try Resolver { [Self.answer($1, addresses: [1, 2])] }
    let (status, text) = try result(resolver.port)
    #expect(status == .ok)
    #expect(
      text.contains(
        #""dns_result_info":"OK","dns_result_status":"NOERROR","dns_result_entries":"#
          + #"[{"dns_result_address":"192.0.2.1","dns_result_ttl":"60"},{"dns_result_address":"192.0.2.2","#
          + #""dns_result_ttl":"60"}],"dns_result_entries_found":"2""#))
  }

  @Test("When a name does not exist, then the result has the code")
  func noName() throws {
    let resolver = try Resolver { [Self.answer($1, flags: [0x81, 0x83], addresses: [])] }
    let (status, text) = try result(resolver.port)
    #expect(status == .ok)
    #expect(text.contains(#""dns_result_status":"NXDOMAIN","dns_result_entries":null,"dns_result_entries_found":"0""#))
  }

  @Test("When foreign and damaged packets come first, then they are ignored")
  func foreign() throws {
    let resolver = try Resolver {
      [[], [1, 2, 3], [$1[0] ^ 0xFF] + Self.answer($1)[1...], Self.answer($1, addresses: [7])]
    }
    #expect(try result(resolver.port).1.contains("192.0.2.7"))
  }

  @Test("When the first query is lost, then another one is sent")
  func lost() throws {
    let resolver = try Resolver { number, query in number == 0 ? [] : [Self.answer(query)] }
    #expect(try result(resolver.port, timeout: "1500000000").0 == .ok)
  }

  @Test("When no answer comes, then the test is a TIMEOUT after its time")
  func silence() throws {
    let resolver = try Resolver { _, _ in [] }
    let (start, watch) = (LoopbackPort.now(), ProgressWatch())
    let (status, text) = try result(resolver.port, timeout: "300000000")
    #expect(status == .timeout)
    #expect(text.contains(#""dns_result_info":"TIMEOUT""#))
    #expect(LoopbackPort.now() - start >= 300_000_000 && watch.passed < .seconds(10))
  }

  @Test("When the resolver's port is closed, then the test is an ERROR at once, with the members of the fixture")
  func refused() throws {
    let port = try DatagramSocket(on: LoopbackPort.address(0)).port
    let start = ProgressWatch()
    let (status, text) = try result(port)
    #expect(status == .error)
    #expect(text.contains(#""dns_result_info":"ERROR","dns_result_entries":null,"dns_result_entries_found":"0""#))
    #expect(start.passed < .seconds(9))
  }

  @Test("When the answer does not fit into a packet, then the query is repeated over TCP")
  func truncated() throws {
    let tcp = try LineListener(on: LoopbackPort.address(0))
    let resolver = try Resolver(port: tcp.port) { [Self.answer($1, flags: [0x83, 0x80], addresses: [])] }
    nonisolated(unsafe) let listener = tcp
    Thread.detachNewThread {
      let waiting = LoopbackPort.waiting()
      guard let socket = try? listener.accept(waiting) else { return }
      var received: [UInt8] = []
      while received.count < 2 || received.count < 2 + Int(received[1]) {
        guard (try? waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: .max)) == true,
          let bytes = try? socket.readSome()
        else { return }
        received += bytes
      }
      let answer = Self.answer(Array(received[2...]), addresses: Array(1...60))
      let message = [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
      // In two parts, as streams have no packets.
      _ = try? socket.write(Array(message[..<1]))
      _ = try? socket.write(Array(message[1...]))
      _ = try? waiting.wait(on: socket.descriptor, for: Int16(POLLIN), until: .max)
    }
    let (status, text) = try result(resolver.port)
    #expect(status == .ok)
    #expect(text.contains(#""dns_result_entries_found":"60""#))
  }

  @Test("When the record type is unknown, or the name is missing, then the test is an ERROR")
  func impossible() throws {
    #expect(try result(1, record: "ANY").0 == .error)
    #expect(DNSTest(QoSParameters(["resolver": "127.0.0.1"])).result(try LoopbackPort.context()).status == .error)
  }
}
