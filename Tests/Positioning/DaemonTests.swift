import Coverage
import Foundation
import Logging
import NIOCore
import NIOPosix
import Positioning
import TestSupport
import Testing

/// The client against Debian's gpsd, which reads a recorded receiver from a TCP source (spec/gpsd.md 6).
@Suite(
  .enabled(if: Daemon.path != nil, "needs gpsd (apt-get install gpsd)"),
  .timeLimit(.minutes(1)))
struct DaemonTests {
  @Test func whenARealGPSDReadsARecordedReceiver_thenTheFixesAreThoseOfTheRecording() async throws {
    let feeder = try await Feeder.start(playing: Surroundings.fixture("gpsd/ublox-8.log"))
    let daemon = try await Daemon.start(reading: "tcp://127.0.0.1:\(feeder.port)")
    var timings = Timings()
    timings.firstRetry = .milliseconds(20)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let client = GPSD(configuration: .init(port: daemon.port), timings: timings, logger: logger)
    var (fixes, release) = ([PositionedFix](), String?.none)
    for await event in client.events() {
      if case .status(.connected(let told)) = event { release = told }
      if case .fix(let fix) = event { fixes.append(fix) }
      if fixes.count == 72 { break }
    }
    daemon.stop()
    await feeder.stop()
    #expect(release?.hasPrefix("3.") == true)
    #expect(Set(fixes.compactMap(\.report?.time)).count == 72)
    for coordinate in fixes.map(\.fix.coordinate) {
      let coordinate = try #require(coordinate)
      #expect((44.068897833...44.0690135).contains(coordinate.latitude))
      #expect((-121.314349833 ... -121.3142705).contains(coordinate.longitude))
    }
    #expect(fixes.dropFirst().allSatisfy { $0.accuracySource == .eph && (11...13).contains($0.fix.accuracy ?? 0) })
    #expect(zip(fixes, fixes.dropFirst()).allSatisfy { $0.arrival <= $1.arrival && $0.delivered <= $1.delivered })
  }
}

/// A gpsd of this test's own.
private struct Daemon {
  static let path = ["/usr/sbin/gpsd", "/usr/local/sbin/gpsd"].first(where: FileManager.default.isExecutableFile)

  let port: Int
  private let process: Process

  static func start(reading source: String) async throws -> Daemon {
    let port = try await freePort()
    let process = Process()
    process.executableURL = path.map { URL(fileURLWithPath: $0) }
    process.arguments = ["-N", "-S", String(port), source]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    return Daemon(port: port, process: process)
  }

  /// By SIGKILL: a child started from a pool thread inherits its signal mask, and may never see SIGTERM.
  func stop() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func freePort() async throws -> Int {
    let probe = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = probe.localAddress?.port ?? 0
    try await probe.close()
    return port
  }
}

/// Sends a receiver's recording to whoever connects, 4 kB every 100 ms: gpsd loses nothing at that pace.
private struct Feeder {
  let channel: any Channel

  var port: Int { channel.localAddress?.port ?? 0 }

  static func start(playing log: URL) async throws -> Feeder {
    let bytes = try withoutHeader(Data(contentsOf: log))
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          play(bytes[...], into: channel)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return Feeder(channel: channel)
  }

  func stop() async {
    try? await channel.close()
  }

  private static func play(_ rest: ArraySlice<UInt8>, into channel: any Channel) {
    guard !rest.isEmpty else { return }
    channel.eventLoop.scheduleTask(in: .milliseconds(100)) {
      channel.writeAndFlush(channel.allocator.buffer(bytes: rest.prefix(4096)), promise: nil)
      play(rest.dropFirst(4096), into: channel)
    }
  }

  /// The recordings begin with lines of explanation, which no receiver sends.
  private static func withoutHeader(_ log: Data) -> [UInt8] {
    var rest = [UInt8](log)[...]
    while rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst() }
    return [UInt8](rest)
  }
}
