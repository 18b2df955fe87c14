import Foundation
import TestSupport
import Testing

@testable import SpeedTest

/// DNS messages as annotated bytes.
@Suite struct DNSMessageTests {
  private static func query(_ name: String = "a.example", _ type: DNSRecordType = .a) throws -> DNSQuery {
    try #require(DNSQuery(name, type, id: 0x1234))
  }

  /// An answer with one question and `count` records in `records`.
  private static func answer(
    _ query: DNSQuery, flags: UInt16 = 0x8180, count: UInt8 = 1, _ records: [UInt8]
  ) -> [UInt8] {
    [0x12, 0x34, UInt8(flags >> 8), UInt8(flags & 0xFF), 0, 1, 0, count, 0, 0, 0, 0] + query.question + records
  }

  /// A record whose name points to the question's.
  private static func record(_ type: DNSRecordType, _ data: [UInt8], ttl: UInt8 = 60) -> [UInt8] {
    [0xC0, 0x0C, 0, UInt8(type.rawValue), 0, 1, 0, 0, 0, ttl, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
  }

  @Test("When a query is written, then it is a header with recursion desired, and one question of class IN")
  func writing() throws {
    let query = try #require(DNSQuery("a.example.", .aaaa, id: 0xBEEF))
    #expect(
      query.bytes == [
        0xBE, 0xEF,  // number
        0x01, 0x00,  // recursion desired
        0, 1, 0, 0, 0, 0, 0, 0,  // one question
        1, 0x61,  // "a"
        7, 0x65, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65,  // "example"
        0,  // the root
        0, 28,  // AAAA
        0, 1,  // IN
      ])
  }

  @Test(
    "When a text is not a valid DNS name, then there is no query",
    arguments: [
      "", ".", "a..b", ".a", "a b", "ä.example", String(repeating: "a", count: 64), "a\u{0}b",
      Array(repeating: "abcdefg", count: 33).joined(separator: "."),
    ])
  func noNames(name: String) { #expect(DNSQuery(name, .a, id: 0) == nil) }

  @Test("When a name has 255 bytes on the wire, then it is valid")
  func longestName() {
    let labels = Array(repeating: String(repeating: "a", count: 63), count: 3) + [String(repeating: "b", count: 61)]
    #expect(DNSQuery(labels.joined(separator: "."), .a, id: 0)?.question.count == 259)
  }

  @Test("When types are named, then case does not matter, and unknown types are rejected")
  func types() {
    #expect(
      DNSRecordType(name: "a") == .a && DNSRecordType(name: "AAAA") == .aaaa && DNSRecordType(name: "Cname") == .cname)
    #expect(DNSRecordType(name: "MX") == .mx && DNSRecordType(name: "TXT") == .txt)
    #expect(DNSRecordType(name: "ANY") == nil && DNSRecordType(name: "") == nil)
  }

  @Test("When addresses come behind an alias, then the entries are the addresses with their time to live")
  func addresses() throws {
    let query = try Self.query()
    let alias = Self.record(.cname, [1, 0x62, 0xC0, 0x0E])
    let records = alias + Self.record(.a, [192, 0, 2, 1], ttl: 30) + Self.record(.a, [192, 0, 2, 2])
    let answer = try #require(DNSAnswer(Self.answer(query, count: 3, records), to: query))
    #expect(
      answer.entries == [DNSEntry(value: "192.0.2.1", timeToLive: 30), DNSEntry(value: "192.0.2.2", timeToLive: 60)])
    #expect(answer.codeName == "NOERROR" && !answer.isTruncated)
  }

  @Test("When other types are requested, then their records are read: AAAA, CNAME, MX, TXT")
  func otherTypes() throws {
    let cases: [(DNSRecordType, [UInt8], DNSEntry)] = [
      (
        .aaaa, [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1],
        DNSEntry(value: "2001:db8::1", timeToLive: 60)
      ),
      (.cname, [1, 0x62, 0xC0, 0x0E], DNSEntry(value: "b.example", timeToLive: 60)),
      (.mx, [0, 10, 2, 0x6D, 0x78, 0xC0, 0x0C], DNSEntry(value: "mx.a.example", timeToLive: 60, priority: 10)),
      (.txt, [2, 0x68, 0x69, 3, 0x22, 0x00, 0x21], DNSEntry(value: #"hi"\000!"#, timeToLive: 60)),
    ]
    for (type, data, entry) in cases {
      let query = try Self.query("a.example", type)
      let answer = try #require(DNSAnswer(Self.answer(query, Self.record(type, data)), to: query))
      #expect(answer.entries == [entry])
    }
  }

  @Test("When the resolver refuses, then the code has its name, with or without the question")
  func codes() throws {
    let query = try Self.query()
    #expect(DNSAnswer(Self.answer(query, flags: 0x8183, count: 0, []), to: query)?.codeName == "NXDOMAIN")
    #expect(DNSAnswer(Self.answer(query, flags: 0x818F, count: 0, []), to: query)?.codeName == "RESERVED15")
    let bare: [UInt8] = [0x12, 0x34, 0x81, 0x85, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(DNSAnswer(bare, to: query)?.codeName == "REFUSED")
    let bareGood: [UInt8] = [0x12, 0x34, 0x81, 0x80, 0, 0, 0, 0, 0, 0, 0, 0]
    #expect(DNSAnswer(bareGood, to: query) == nil)
  }

  @Test("When an answer has another number, question or direction, then it is rejected; the case of letters may differ")
  func foreign() throws {
    let query = try Self.query()
    let good = Self.answer(query, Self.record(.a, [192, 0, 2, 1]))
    #expect(DNSAnswer(good, to: query) != nil)
    #expect(DNSAnswer([0x12, 0x35] + good[2...], to: query) == nil)
    #expect(DNSAnswer(query.bytes, to: query) == nil)
    #expect(DNSAnswer(good, to: try Self.query("b.example")) == nil)
    #expect(DNSAnswer(good, to: try Self.query("a.example", .aaaa)) == nil)
    var upper = good
    upper[13] = 0x41
    #expect(DNSAnswer(upper, to: query) != nil)
  }

  @Test("When pointers of names loop or point forward, then the message is damaged, and reading ends")
  func loops() throws {
    let query = try Self.query()
    // The record's name begins at 12 + 15 = 27.
    for target: UInt8 in [27, 28, 200] {
      let record = [0xC0, target] + Self.record(.a, [192, 0, 2, 1]).dropFirst(2)
      #expect(DNSAnswer(Self.answer(query, Array(record)), to: query) == nil)
    }
    // "x" and a pointer to itself.
    let label: [UInt8] = [1, 0x78, 0xC0, 27] + Self.record(.a, [192, 0, 2, 1]).dropFirst(2)
    #expect(DNSAnswer(Self.answer(query, label), to: query) == nil)
  }

  @Test("When a name grows beyond 255 bytes by pointers, then the message is damaged")
  func longByPointers() throws {
    let query = try Self.query()
    var records: [UInt8] = []
    // Each name is 63 bytes and a pointer to the one before.
    var before = 12
    for _ in 0..<6 {
      let start = 27 + records.count
      records += [63] + [UInt8](repeating: 0x61, count: 63) + [0xC0 | UInt8(before >> 8), UInt8(before & 0xFF)]
      records += Self.record(.a, [192, 0, 2, 1]).dropFirst(2)
      before = start
    }
    #expect(DNSAnswer(Self.answer(query, count: 3, records), to: query)?.entries.count == 3)
    #expect(DNSAnswer(Self.answer(query, count: 6, records), to: query) == nil)
  }

  @Test("When a record's length and data do not agree, then the message is damaged")
  func lengths() throws {
    let query = try Self.query()
    for data: [UInt8] in [[], [192, 0, 2], [192, 0, 2, 1, 1]] {
      #expect(DNSAnswer(Self.answer(query, Self.record(.a, data)), to: query) == nil)
    }
    let texts = try Self.query("a.example", .txt)
    #expect(DNSAnswer(Self.answer(texts, Self.record(.txt, [5, 0x61])), to: texts) == nil)
    let exchange = try Self.query("a.example", .mx)
    // The name continues after the record.
    #expect(DNSAnswer(Self.answer(exchange, Self.record(.mx, [0, 1, 1]) + [0x61, 0]), to: exchange) == nil)
  }

  @Test("When a message is cut anywhere, then it is damaged, unless its flag says that it is truncated")
  func cut() throws {
    let query = try Self.query()
    let good = Self.answer(query, count: 2, Self.record(.a, [192, 0, 2, 1]) + Self.record(.a, [192, 0, 2, 2]))
    for length in 0..<good.count { #expect(DNSAnswer(Array(good[..<length]), to: query) == nil) }
    let truncated = Self.answer(query, flags: 0x8380, count: 2, Self.record(.a, [192, 0, 2, 1]))
    #expect(DNSAnswer(truncated, to: query)?.isTruncated == true)
  }

  @Test("When bytes of messages are replaced at random, then reading ends and nothing traps")
  func damaged() throws {
    var generator = SeededGenerator(seed: 7)
    for type in DNSRecordType.allCases {
      let query = try Self.query("a.example", type)
      let good = Self.answer(
        query, count: 2, Self.record(type, [0, 10, 2, 0x6D, 0x78, 0xC0, 0x0C]) + Self.record(.cname, [0xC0, 0x0C]))
      for _ in 0..<3000 {
        var message = good
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
          // The header's number and direction stay, so that the rest is read.
          message[Int.random(in: 6..<message.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        message.removeLast(Int.random(in: 0...10, using: &generator))
        let answer = DNSAnswer(message, to: query)
        #expect(answer.map { $0.entries.count <= 65_535 } ?? true)
      }
    }
  }

  @Test("When the system's file of resolvers is read, then they come in its order")
  func resolverFile() {
    let text = "# nameserver 192.0.2.9\nsearch example\nnameserver 192.0.2.1\nnameserver\t2001:db8::1 \nnameserver\n"
    #expect(ResolverFile.resolvers(text) == ["192.0.2.1", "2001:db8::1"])
  }
}
