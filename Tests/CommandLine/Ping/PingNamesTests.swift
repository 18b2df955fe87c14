import Coverage
import Testing

@testable import Pinging
@testable import Service
@testable import coverage_probe

/// How names become targets.
struct PingNamesTests {
  private func resolved(_ names: [String], _ options: PingOptions) async throws -> [PingTarget?] {
    await PingNames(options: options).targets(names).map { try? $0.get() }
  }

  @Test("when addresses are resolved, then each target has the settings of the run, in the order of the names")
  func settings() async throws {
    var options = PingOptions()
    options.target = PingTarget(address: .unresolved(port: 4440), echo: .oneWay, interval: .milliseconds(20), count: 7)
    options.target.hopLimit = 9
    let names = (1...20).map { "127.0.0.\($0)" } + ["::1"]
    var expected: [PingTarget?] = []
    for name in names {
      var target = options.target
      target.address = try #require(PingAddress(numeric: name, port: 4440))
      expected.append(target)
    }
    #expect(try await resolved(names, options) == expected)
  }

  @Test("when a family is set, then an address of the other family is rejected")
  func family() async throws {
    for (family, good) in [(IPVersion.ipv4, "127.0.0.1"), (.ipv6, "::1")] {
      var options = PingOptions()
      options.family = family
      let targets = try await resolved(["127.0.0.1", "::1"], options)
      #expect(targets.compactMap { $0?.address.host } == [good])
    }
  }

  @Test("when a source is set, then targets of its family have it, and the others are rejected")
  func source() async throws {
    var options = PingOptions()
    options.source = "127.0.0.9"
    let targets = try await resolved(["127.0.0.1", "::1"], options)
    #expect(targets.map { $0?.source?.description } == ["127.0.0.9", nil])
    #expect(targets[1] == nil)
  }

  @Test("when a target is not resolved, then a pinger refuses it")
  func unresolved() throws {
    let pinger = try Pinger()
    #expect(throws: PingerError.self) { try pinger.add(PingOptions().target) }
    #expect(PingAddress.unresolved(port: 7).port == 7)
  }

  @Test("when no token is given, then one with the present time and no signature is sent")
  func unsignedToken() throws {
    let before = WallTime.current.microseconds / 1_000_000
    let token = PingOptions.unsignedToken
    let seconds = Int64(token.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    #expect((before...WallTime.current.microseconds / 1_000_000).contains(seconds))
    #expect(token.count == 16 && token.dropFirst(4).allSatisfy { $0 == 0 })
  }
}
