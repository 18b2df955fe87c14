import Coverage
import Foundation
import Logging
import TestSupport
import Testing

@testable import Networking

struct NetworkPathTests {
  private func monitor(_ source: PathSource, interface: String? = nil, destination: String? = nil) -> PathMonitor {
    PathMonitor(
      source: source, interface: interface, destination: destination, pollInterval: .milliseconds(10),
      logger: Logger.quiet)
  }

  @Test("when the source is written as in the configuration, then it is parsed")
  func sources() {
    #expect(PathSource("auto") == .auto)
    #expect(PathSource("fixed-cellular") == .fixed(.cellular))
    #expect(PathSource("fixed-wifi") == .fixed(.wifi))
    #expect(PathSource("file:/run/path") == .file("/run/path"))
    #expect(PathSource("file:") == nil)
    #expect(PathSource("lte") == nil)
  }

  @Test("when the file's last line changes, then the change is reported")
  func file() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("cellular\n", to: "path")
    let monitor = monitor(.file(file))
    #expect(monitor.current.path == .cellular)
    let (changes, continuation) = AsyncStream<Coverage.Path>.makeStream()
    let running = Task { await monitor.run { continuation.yield($0.path) } }
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next() == .cellular)
    _ = try folder.write("cellular\nwifi\n", to: "path")
    monitor.readFile()
    #expect(await iterator.next() == .wifi)
    _ = try folder.write("cellular\nwifi\nnone\n", to: "path")
    monitor.readFile()
    #expect(await iterator.next() == .offline)
    running.cancel()
    await running.value
  }

  @Test("when the file is missing or invalid, then there is no path, and the reason is one line")
  func badFile() throws {
    let folder = try TemporaryFolder()
    let missing = folder.file("missing")
    #expect(monitor(.file(missing)).current.path == .offline)
    #expect(complaint(missing) == "network.source: \(missing): it cannot be read; no network is assumed")
    let nonsense = try folder.write("lte\n", to: "path")
    #expect(monitor(.file(nonsense)).current.path == .offline)
    #expect(complaint(nonsense)?.contains("its last line is \"lte\", expected cellular, wifi or none") == true)
  }

  private func complaint(_ file: String) -> String? {
    guard case .failure(let error) = PathFile.lastWord(of: file) else { return nil }
    return "\(error)"
  }

  @Test("when the file cannot be read once, then the last path counts; the second time, there is none, with one line")
  func fileRewritten() throws {
    let folder = try TemporaryFolder()
    var file = PathFile(name: try folder.write("wifi\n", to: "path"))
    #expect(file.read().path == .wifi)
    try FileManager.default.removeItem(atPath: file.name)
    #expect(file.read().path == .wifi)
    let second = file.read()
    #expect(second.path == .offline)
    #expect(second.newError?.reason == "it cannot be read")
    #expect(file.read().newError == nil)
    _ = try folder.write("cellular\n", to: "path")
    #expect(file.read().path == .cellular)
    var missing = PathFile(name: folder.file("missing"))
    #expect(missing.read().path == nil)
    #expect(missing.read().path == .offline)
  }

  @Test("when the server is on this host, then the link is loopback, and counts as cellular")
  func loopback() async throws {
    #expect(monitor(.auto, destination: "127.0.0.1").current.path == .cellular)
    #expect(monitor(.auto, destination: "[::1]").current.path == .cellular)
    #expect(monitor(.auto, interface: "lo", destination: "127.0.0.1").current.path == .cellular)
    #expect(
      Route(interface: nil, destination: "127.0.0.1").reading.link == Link(interface: "lo", kind: .loopback, index: 1))
  }

  @Test("when the link is declared as cellular, then it still needs a route; declared Wi-Fi does not")
  func declared() {
    #expect(monitor(.fixed(.cellular), destination: "127.0.0.1").current.path == .cellular)
    #expect(monitor(.fixed(.cellular), interface: "nosuch0").current.path == .offline)
    #expect(monitor(.fixed(.wifi), destination: "127.0.0.1").current.path == .wifi)
    #expect(monitor(.fixed(.wifi), interface: "nosuch0").current.path == .wifi)
  }

  @Test("when the ping server becomes known, then its route decides")
  func follows() async throws {
    let (readings, continuation) = AsyncStream<PathReading>.makeStream()
    let monitor = monitor(.auto, destination: "control.example")
    let running = Task { await monitor.run { continuation.yield($0) } }
    monitor.follow("127.0.0.1")
    let loopback = await readings.first { $0.link?.kind == .loopback }
    #expect(loopback?.path == .cellular)
    running.cancel()
    await running.value
  }

  @Test(
    "when the kind of the link is declared, then the way of the pings is still delivered",
    arguments: [PathSource.fixed(.cellular), .file("")])
  func followsWay(source: PathSource) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("cellular\n", to: "path")
    let (readings, continuation) = AsyncStream<PathReading>.makeStream()
    let monitor = monitor(source == .file("") ? .file(file) : source, destination: "control.example")
    let running = Task { await monitor.run { continuation.yield($0) } }
    monitor.follow("::1")
    let loopback = await readings.first { $0.way?.destination == "::1" }
    #expect(loopback?.path == .cellular)
    #expect(loopback?.way?.interface == "lo")
    #expect(loopback?.way?.address == "::1")
    running.cancel()
    await running.value
  }

  @Test("when the interface does not exist, then there is no path")
  func missingInterface() {
    #expect(monitor(.auto, interface: "nosuch0").current.path == .offline)
    #expect("\(Route(interface: "nosuch0").reading)" == "none, there is no interface nosuch0")
  }
}
