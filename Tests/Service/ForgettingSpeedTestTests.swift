import Coverage
import Foundation
import Logging
import Settings
import TestSupport
import Testing

@testable import Service
@testable import Store

/// A forgotten speed test leaves no byte in the store; a running test cannot be forgotten.
struct ForgettingSpeedTestTests {
  private let folder: TemporaryFolder
  private let directory: StateDirectory

  init() throws {
    folder = try TemporaryFolder()
    directory = StateDirectory(path: folder.file("state"))
  }

  private func open() throws -> DriveStore { try DriveStore(directory: directory, purpose: "a test") }

  private func begin(_ uuid: String, in store: DriveStore) async throws -> Int64 {
    try await store.speedTests.begin(
      .init(
        controlServer: "https://host/RMBTControlServer", clientUUID: "C", testUUID: uuid, token: "token-of-\(uuid)",
        started: .sampleStart))
  }

  private func ended(_ uuid: String, in store: DriveStore) async throws -> Int64 {
    let id = try await begin(uuid, in: store)
    try await store.speedTests.end(id, .init(.completed, at: .sampleStart, figures: .sample()))
    return id
  }

  private func forget(_ id: Int64) async throws -> [String] {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = directory.path
    var lines: [String] = []
    #expect(try await Forgetting.run(.speedTest(id), configuration, logger: .quiet) { lines.append($0) } == .done)
    return lines
  }

  @Test(
    "when a test is forgotten, then no file of the store contains its token, the others stay, and a second attempt fails"
  )
  func forgotten() async throws {
    do {
      let store = try open()
      #expect(try await ended("T1", in: store) == 1)
      #expect(try await ended("T2", in: store) == 2)
    }
    #expect(try await forget(1) == ["speed test 1 is deleted here; the server keeps a result that was sent"])
    #expect(try StoreReader(try open()).speedTests().map(\.testUUID) == ["T2"])
    for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      guard let bytes = FileManager.default.contents(atPath: directory.path + "/" + file) else { continue }
      #expect(bytes.range(of: Data("token-of-T1".utf8)) == nil, "\(file)")
    }
    await #expect(throws: ExportError.noSuchSpeedTest(1)) { try await forget(1) }
  }

  @Test("when the row of a test is damaged, then it can be forgotten")
  func damaged() async throws {
    do {
      let store = try open()
      _ = try await ended("T1", in: store)
      try await store.database.write { db in
        try db.execute(sql: "UPDATE speed_test SET row_checksum = row_checksum + 1")
      }
    }
    #expect(try await forget(1).count == 1)
    await #expect(throws: ExportError.noSuchSpeedTest(1)) { try await forget(1) }
  }

  @Test("when a test is running, then it is not deleted, and the error says to stop it first")
  func running() async throws {
    let store = try open()
    let id = try await begin("T1", in: store)
    let error = await #expect(throws: ExportError.self) { try await Forgetting.forget(.speedTest(id), in: store) }
    #expect(error?.description == "speed test 1 is running; stop it first, or wait for its end")
    #expect(try StoreReader(store).speedTests().count == 1)
  }

  @Test("when a service uses the store, then it deletes the test, and its line is the result")
  func throughService() async throws {
    try await ServiceRig.run(preparing: { try $0.recordDrive() }) { rig in
      let (line, outcome) = try await rig.client.forget(.speedTest(4))
      #expect(line == "there is no speed test 4; coverage-probe sessions --speed-tests lists them")
      #expect(outcome == .failed)
      #expect(rig.log.messages.contains("command: forget speed test 4"))
    }
  }
}
