import Foundation
import TestSupport
import Testing

@testable import Submission

/// Compression of request bodies, and the server's reactions to it (docs/protocol.md, 3.1).
struct CodingTests {
  @Test(
    "when bytes are compressed, then gzip restores them",
    .enabled(if: Surroundings.program("gzip") != nil, "gzip is not installed"),
    arguments: [0, 1, 1024, 70_000])
  func roundTrip(count: Int) async throws {
    var generator = SeededGenerator(seed: 7)
    let bytes = (0..<count).map { $0 % 3 == 0 ? UInt8.random(in: 0...255, using: &generator) : UInt8(ascii: "x") }
    let packed = try #require(Gzip.compressed(bytes))
    let folder = try TemporaryFolder()
    try Data(packed).write(to: URL(fileURLWithPath: folder.file("body.gz")))
    let gzip = try RunningProgram(try #require(Surroundings.program("gzip")), ["-d", folder.file("body.gz")])
    #expect(try await gzip.exitStatus() == 0, "\(gzip.standardError)")
    #expect(FileManager.default.contents(atPath: folder.file("body")) == Data(bytes))
    if count > 10_000 { #expect(packed.count < bytes.count) }
  }

  @Test("when the server has not offered gzip, then no body is compressed; an answer without an offer changes nothing")
  func offer() {
    let coding = AcceptedCoding()
    #expect(!coding.isGzip)
    coding.apply(nil, status: 200)
    #expect(!coding.isGzip)
    coding.apply("gzip, deflate", status: 200)
    #expect(coding.isGzip)
    coding.apply(nil, status: 500)
    #expect(coding.isGzip)
    coding.apply("identity", status: 200)
    #expect(!coding.isGzip)
  }

  @Test("when a 415 names no coding, then compression stops until the server offers it again")
  func withdrawn() {
    let coding = AcceptedCoding()
    coding.apply("gzip", status: 200)
    coding.apply(nil, status: 415)
    #expect(!coding.isGzip)
    coding.apply("gzip", status: 200)
    #expect(coding.isGzip)
  }

  @Test("when a body is refused compressed and accepted plain, then compression stops for good, despite later offers")
  func refused() {
    let coding = AcceptedCoding()
    coding.apply("gzip", status: 200)
    #expect(coding.mayRefuseCompression(for: 400))
    coding.compare(compressed: 400, plain: 200)
    #expect(!coding.isGzip)
    coding.apply("gzip", status: 200)
    #expect(!coding.isGzip)
  }

  @Test("when a compressed body was accepted once, then 400 concerns the content, and 415 the compression")
  func understood() {
    let coding = AcceptedCoding()
    coding.apply("gzip", status: 200)
    #expect(!coding.mayRefuseCompression(for: 200))
    #expect(!coding.mayRefuseCompression(for: 400))
    #expect(coding.mayRefuseCompression(for: 415))
    #expect(!coding.mayRefuseCompression(for: 500))
  }

  @Test("when a compressed and a plain body get the same refusal, then compression continues")
  func sameRefusal() {
    let coding = AcceptedCoding()
    coding.apply("gzip", status: 200)
    coding.compare(compressed: 400, plain: 400)
    #expect(coding.isGzip)
    #expect(!coding.mayRefuseCompression(for: 400))
  }

  // MARK: The server's clock

  @Test("when an answer has a date, then it is the latest reading; a damaged date changes nothing")
  func dates() throws {
    let date = ServerDate()
    #expect(date.latest == nil)
    let sent = ContinuousClock.now
    date.note("Fri, 20 Nov 2026 10:00:00 GMT", sent: sent)
    let first = try #require(date.latest)
    #expect(first.date == .sampleStart)
    #expect(first.received >= sent && first.roundTrip == first.received - sent)
    for text in [nil, "", "soon", "Fri, 20 Nov 2026", "Fri, 99 Nov 2026 10:00:00 GMT", "\u{0}"] {
      date.note(text, sent: sent)
      #expect(date.latest == first)
    }
    date.note("Fri, 20 Nov 2026 10:00:01 GMT", sent: sent)
    #expect(date.latest?.date == .sampleStart.later(by: .seconds(1)))
  }

  @Test(
    "when a date is at an end of its range, then it is exact to the second; a day that does not exist gives no date",
    arguments: [
      ("Thu, 29 Feb 2024 23:59:59 GMT", "2024-02-29T23:59:59.000Z"), ("Thu, 29 Feb 2023 00:00:00 GMT", nil),
      ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00.000Z"),
      ("Tuesday, 31-Dec-69 23:59:59 GMT", "2069-12-31T23:59:59.000Z"),
      ("Thursday, 01-Jan-70 00:00:00 GMT", "1970-01-01T00:00:00.000Z"),
      ("Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59.000Z"), ("Fri, 20 nov 2026 10:00:00 GMT", nil),
      ("Fri, 120 Nov 2026 10:00:00 GMT", nil), ("Fri, 20 Nov -2026 10:00:00 GMT", nil),
    ])
  func httpDates(text: String, expected: String?) {
    #expect(HTTPDate.time(text)?.iso8601 == expected)
  }
}
