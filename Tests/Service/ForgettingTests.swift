import Coverage
import Foundation
import Logging
import Settings
import TestSupport
import Testing

@testable import Service
@testable import Store

/// Sessions forgotten on command, with damaged rows or logs.
struct ForgettingTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory
  private let logger = Logger.quiet

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  /// A drive of two sessions with two fences each, in the store and in its log.
  private func record(in store: DriveStore) throws {
    let path = directory.driveLogs + "/drive.jsonl"
    let parameters = Parameters()
    let writer = try DriveLogWriter(
      path: path, header: DriveLogHeader(started: .sampleStart, initialPath: .cellular, parameters: parameters))
    var engine = Engine(parameters: parameters)
    func take(_ event: Event) throws {
      try writer.append(event)
      _ = engine.handle(event)
    }
    for second in 0..<10 {
      let place = Coordinate(latitude: 48.2 + Double(second) * 25 / 111_200, longitude: 16.37)
      try take(Event(at: .seconds(Double(second)), .fix(Fix(coordinate: place, accuracy: 5))))
      if second % 5 == 1 {
        let grant = SessionGrant(testUUID: "T\(second)")
        try take(Event(at: .seconds(Double(second) + 0.5), .session(grant)))
      }
    }
    try take(Event(at: .seconds(10), .stop(.user)))
    try writer.seal(at: .seconds(10))
    try writer.sync()
    var recorder = try DriveRecorder(store, started: .sampleStart, log: path)
    try recorder.save(sessions: engine.sessions, fences: engine.fences, seen: .seconds(10))
    try recorder.end(at: .seconds(10), reason: .user)
  }

  private func open() throws -> DriveStore { try DriveStore(directory: directory, purpose: "a test") }

  private func forget(_ session: Int64) async throws {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = directory.path
    #expect(try await Forgetting.run(.session(session), configuration, logger: logger) { _ in } == .done)
  }

  @Test("when the row of a drive is damaged and all its sessions are forgotten, then its drive log goes with them")
  func damagedDrive() async throws {
    do {
      let store = try open()
      try record(in: store)
      try await store.database.write { db in
        try db.execute(sql: "UPDATE drive SET row_checksum = row_checksum + 1")
      }
      #expect(try StoreReader(store).sessions().map(\.id) == [1, 2])
    }
    try await forget(1)
    try await forget(2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.driveLogs).isEmpty)
    #expect(try StoreReader(try open()).sessions().isEmpty)
  }

  @Test("when the drive log cannot record that a session is forgotten, then the session stays")
  func unwritableLog() async throws {
    let store = try open()
    try record(in: store)
    let log = directory.driveLogs + "/drive.jsonl"
    try FileManager.default.removeItem(atPath: log)
    try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
    await #expect(throws: DriveLogError.self) { try await Forgetting.forget(.session(1), in: store) }
    #expect(try StoreReader(store).sessions().map(\.id) == [1, 2])
  }
}
