import Foundation
import Networking
import SpeedTest
import Synchronization
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// The command `speedtest` up to its first connection.
struct SpeedTestingTests {
  /// A port of this host that accepts connections and sends nothing, or refuses them.
  private final class SilentPort: Sendable {
    let place: HostPort
    private let descriptor: CInt

    init(listens: Bool) throws {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), UInt32(0x7F00_0001).bigEndian)
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutableBytes(of: &address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) {
          bind(descriptor, $0.baseAddress, size) == 0 && getsockname(descriptor, $0.baseAddress, &size) == 0
        }
      }
      guard isBound, !listens || listen(descriptor, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
      self.descriptor = descriptor
      place = try #require(HostPort("127.0.0.1:\(UInt16(bigEndian: address.sin_port))"))
    }

    deinit { close(descriptor) }
  }

  private func command(_ place: HostPort, _ token: SpeedTesting.TokenSource = .none) throws -> SpeedTesting {
    try SpeedTesting(server: place, token: token, now: 1_700_000_000, asJSON: false) { $0.opening = .native }
  }

  @Test("when the port is closed, then the command fails with the reason, and prints no result")
  func refused() async throws {
    let command = try command(SilentPort(listens: false).place)
    let notes = Mutex<[String]>([])
    await #expect(throws: SpeedTestError.unreachable("Connection refused")) {
      try await command.run(stop: AsyncStream { $0.finish() }, show: nil, print: { _ in Issue.record("a result") }) {
        note in
        notes.withLock { $0.append(note) }
      }
    }
    #expect(notes.withLock { $0 } == ["speedtest: connecting"])
  }

  @Test("when the user stops the command, then the test is aborted, even if the server is silent")
  func stopped() async throws {
    let port = try SilentPort(listens: true)
    let command = try command(port.place)
    let (stop, continuation) = AsyncStream.makeStream(of: Void.self)
    let lines = Mutex<[String]>([])
    await #expect(throws: SpeedTestError.aborted) {
      // The first line shows that the connections are being opened.
      try await command.run(
        stop: stop,
        show: { line in
          lines.withLock { $0.append(line) }
          continuation.yield()
        }, print: { _ in Issue.record("a result") }, note: { _ in Issue.record("a note beside the live line") })
    }
    #expect(lines.withLock { $0 }.first == "connecting")
  }

  @Test("when a token is malformed, then the command does not start", arguments: ["", "a b", "a\nQUIT"])
  func unusableToken(text: String) throws {
    let place = try #require(HostPort("127.0.0.1:1"))
    #expect(throws: SpeedTestError.unusableToken) { try command(place, .issued(text)) }
  }

  @Test("when the secret is known, then each test gets a new token made from it")
  func tokens() throws {
    let place = try #require(HostPort("127.0.0.1:1"))
    var texts: [String] = []
    for source in [SpeedTesting.TokenSource.secret("lab"), .secret("lab"), .issued("abc_1_x"), .none] {
      _ = try SpeedTesting(server: place, token: source, now: 1_700_000_000, asJSON: false) {
        texts.append($0.token.text)
      }
    }
    #expect(texts.suffix(2) == ["abc_1_x", "none"])
    #expect(texts[0] != texts[1])
    let parts = texts[0].split(separator: "_").map(String.init)
    #expect(parts.count == 3 && parts[1] == "1700000000")
    // Servers accept lower case only.
    #expect(parts[0].count == 36 && parts[0] == parts[0].lowercased())
    #expect(texts[0] == LabToken.version1(secret: "lab", uuid: parts[0], unixSeconds: 1_700_000_000))
  }
}

/// The lines of errors in the command that has options in place of settings.
struct SpeedTestingLineTests {
  @Test(
    "when an option of the command may help, then the line of an error names it, and no setting",
    arguments: [
      (.untrusted("old"), "TLS failed: old; see --ca-file and --insecure"),
      (.upgradeRefused("426"), "the server did not switch to RMBT (426); try another --protocol"), (.noTLS, nil),
    ] as [(SpeedTestError, String?)])
  func options(error: SpeedTestError, line: String?) { #expect(error.lineWithOptions == line) }
}

/// The command `speedtest` against a whole server.
struct SpeedTestingSlowTests {
  @Test("when the server has a name, then the test has the link to its address, not that of the default route")
  func link() async throws {
    let server = try await MeasurementServerTool()
    let options = server.controlServerOptions
    let address = try #require(options.firstIndex(of: "--measurement-server").map { options[$0 + 1] })
    let port = try #require(address.split(separator: ":").last)
    let place = try #require(HostPort("localhost:\(port)"))
    let command = try SpeedTesting(
      server: place, token: .secret("lab"), now: Int64(Date().timeIntervalSince1970), asJSON: true
    ) {
      ($0.opening, $0.access.family, $0.seconds, $0.threads) = (.http, .ipv4, 1, 2)
    }
    let lines = Mutex<[String]>([])
    let outcome = try await command.run(
      stop: AsyncStream { $0.finish() }, show: nil, print: { line in lines.withLock { $0.append(line) } },
      note: { _ in })
    #expect(outcome == .done)
    let text = lines.withLock { $0.joined() }
    #expect(text.contains("\"loopback\"") && text.contains("\"lo\""), "\(text)")
    try await server.program.stop()
  }
}
