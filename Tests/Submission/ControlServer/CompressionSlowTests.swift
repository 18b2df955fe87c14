import Coverage
import TestSupport
import Testing

@testable import Submission

/// Bodies compressed with gzip.
extension ClientSlowTests {
  @Test(
    "when the server offers gzip, then large bodies are compressed, otherwise plain, all on one connection",
    arguments: [true, false])
  func compression(isTaken: Bool) async throws {
    let tool = try await ControlServerTool(isTaken ? ["--gzip"] : [])
    try await withClient(of: tool.url) { client in
      let (uuid, grant) = try await request(client)
      let fences = (0..<400).map { Fence.sample(number: $0, entered: Double($0) * 4) }
      try await client.submit(
        client.device.prepare(
          CoverageResult(
            clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start, fences: fences)))
      #expect(try await tool.fences().count == 400)
      let requests = try await tool.requests(to: "")
      #expect(requests.map { $0["encoding"] as? String } == [nil, nil, isTaken ? "gzip" : nil])
      #expect(Set(requests.compactMap { $0["port"] as? Int }).count == 1)
    }
    try await tool.program.stop()
  }

  @Test(
    "when a server offers gzip but refuses a compressed body, then it gets that body and all later ones plain",
    arguments: [("400", 1), ("415", 1), ("400", 2)])
  func wrongOffer(fault: String, refusals: Int) async throws {
    let tool = try await ControlServerTool(["--gzip"])
    try await withClient(of: tool.url) { client in
      let fences = (0..<400).map { Fence.sample(number: $0, entered: Double($0) * 4) }
      func submit() async throws {
        let (uuid, grant) = try await request(client)
        try await client.submit(
          client.device.prepare(
            CoverageResult(
              clientUUID: uuid, testUUID: grant.testUUID, driveStarted: .sampleStart, anchor: .start, fences: fences)))
      }
      try await tool.setFault(fault, on: "coverageResult", count: refusals)
      if refusals == 1 {
        try await submit()
      } else {
        await #expect(throws: ServerFailure.self) { try await submit() }
      }
      try await submit()
      let encodings = try await tool.requests(to: "coverageResult").map { $0["encoding"] as? String }
      #expect(
        encodings == ["gzip", nil, refusals == 1 ? nil : "gzip"], "refused both ways: the compression is not the cause")
    }
    try await tool.program.stop()
  }

  @Test(
    "when a server names its codings, then only gzip is recognized",
    arguments: [
      ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("x-gzip", true), ("gzip;q=0", false),
      ("identity", false), ("", false), ("gzippy", false), ("br;q=1.0, gzip; q=0.8, *;q=0.1", true),
    ])
  func codings(text: String, isGzip: Bool) {
    #expect(AcceptedCoding.namesGzip(text) == isGzip)
    let accepted = AcceptedCoding()
    accepted.apply(text, status: 200)
    accepted.apply(nil, status: 200)
    #expect(accepted.isGzip == isGzip, "an answer without an offer changes nothing")
    accepted.apply(nil, status: 415)
    #expect(!accepted.isGzip)
  }
}
