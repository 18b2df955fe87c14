import Foundation
import Store
import TestSupport
import Testing

@testable import Coverage

/// The same log gives the same fences, always.
@Suite struct ReplayTests {
  private static let seeds: [UInt64] = (500..<530).map { $0 } + [SeededGenerator.seedOfThisRun]

  private func writeAndRead(_ drive: RandomDrive) throws -> RecordedDrive {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let header = DriveLogHeader(
      started: WallTime(microseconds: 0), initialPath: drive.initialPath, parameters: drive.parameters,
      pings: .init(interval: drive.parameters.pingInterval, timeout: .seconds(1)))
    let writer = try DriveLogWriter(path: path, header: header)
    for step in drive.steps { try writer.append(step.event) }
    return try RecordedDrive(path: path)
  }

  @Test(arguments: seeds)
  func `when a drive is written and read, then the engine gives the same results`(seed: UInt64) throws {
    let drive = RandomDrive(seed: seed, count: 600)
    let log = try writeAndRead(drive)
    var parameters = try #require(log.header.parameters)
    parameters.pingInterval = try #require(log.header.pings).interval
    var live = Engine(parameters: drive.parameters, path: drive.initialPath)
    var replayed = Engine(parameters: parameters, path: log.header.initialPath)
    #expect(log.events == drive.steps.map(\.event))
    #expect(log.events.flatMap { replayed.handle($0) } == drive.steps.flatMap { live.handle($0.event) })
    #expect(replayed.fences == live.fences)
    #expect(replayed.sessions == live.sessions)
    #expect(replayed.warnings == live.warnings)
    #expect(replayed.pings.unassigned == live.pings.unassigned)
    #expect(replayed.stopped?.at == live.stopped?.at)
  }
}
