import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// A run that continues while the addresses of names change.
struct PingCourseTests {
  /// A run with one target, given by name and pinged at 127.0.0.1.
  /// - Parameter isLookingUp: Whether the look-up of its name is under way.
  private func progress(_ inputs: AsyncStream<PingProgress.Input>.Continuation, isLookingUp: Bool = false) throws
    -> PingProgress
  {
    let address = try #require(PingAddress(numeric: "127.0.0.1", port: 9))
    let target = PingTarget(address: address, echo: .oneWay, count: 1)
    var fleet = try PingFleet([("moving.test", target)], threads: 1)
    #expect(fleet.open().isEmpty)
    #expect(fleet.begin().isEmpty)
    if isLookingUp { #expect(fleet.wantedLookUps(at: Pinger.now + 31_000_000_000, limit: 1) == [0]) }
    var options = PingOptions()
    options.output.isQuiet = true
    return PingProgress(fleet: fleet, capture: nil, options: options, inputs: inputs)
  }

  private func moved(to addresses: [String]) throws -> (notes: [String], summary: [String]) {
    let (_, inputs) = AsyncStream<PingProgress.Input>.makeStream()
    var progress = try progress(inputs, isLookingUp: true)
    var notes: [String] = []
    var summary: [String] = []
    let found = addresses.compactMap { PingAddress(numeric: $0, port: 9) }
    progress.handle(.resolved(0, .success(found)), print: { _ in }, note: { notes.append($0) })
    progress.sumUp { summary.append($0) }
    return (notes, summary)
  }

  @Test("when a silent name has a new address, then its pings go there, and one line and the summary report it")
  func moves() throws {
    let (notes, summary) = try moved(to: ["::1", "127.0.0.7"])
    #expect(notes == ["moving.test was silent at 127.0.0.1:9 and is at 127.0.0.7:9 now; pinging there"])
    #expect(summary.map { $0.prefix(25) } == ["moving.test (127.0.0.7): "])
  }

  @Test(
    "when a look-up fails while the address is silent, then one line says so; a failure after an answer prints none"
  )
  func unknown() throws {
    let (_, inputs) = AsyncStream<PingProgress.Input>.makeStream()
    let failure = PingProgress.Input.resolved(0, .failure(NameError(name: "moving.test", reason: "no answer")))
    for isUnderWay in [true, false] {
      var progress = try progress(inputs, isLookingUp: isUnderWay)
      var notes: [String] = []
      for _ in 0..<2 { progress.handle(failure, print: { _ in }, note: { notes.append($0) }) }
      let line = "127.0.0.1:9 is silent: cannot find the address of moving.test: no answer"
      #expect(notes == (isUnderWay ? [line] : []))
    }
  }

  @Test("when the name still has the address, or none of its family, then the target stays")
  func stays() throws {
    for addresses in [["127.0.0.7", "127.0.0.1"], ["::1"]] {
      let (notes, summary) = try moved(to: addresses)
      #expect(notes.isEmpty, "\(addresses)")
      #expect(summary.map { $0.prefix(25) } == ["moving.test (127.0.0.1): "])
    }
  }
}
