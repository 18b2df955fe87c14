import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The modem's report of a fence in the store.
struct RadioColumnTests {
  private let folder: TemporaryFolder
  private let store: DriveStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DriveStore(copiedTo: StateDirectory(path: folder.file("state")))
  }

  private func save(_ fence: Fence) throws -> [StoredFence] {
    var recorder = try DriveRecorder(store, started: .sampleStart, log: nil)
    try recorder.save(sessions: [Session(number: 0, started: .start)], fences: [fence], seen: .seconds(60))
    return try fences()
  }

  private func fences() throws -> [StoredFence] {
    try StoreReader(store).sessions().flatMap { try StoreReader(store).fences(of: $0) }
  }

  @Test("when a fence is stored with a report, then the report reads back; a fence without a report has none")
  func roundTrip() throws {
    #expect(try save(.sample(radio: .sample)).map(\.fence.radio) == [.sample])
    #expect(try save(.sample()).last?.fence.radio == nil)
  }

  @Test("when a report has cells beside the serving one, then they read back, in the form that tools read")
  func environment() throws {
    var radio = FenceRadio.sample
    radio.environment = RadioEnvironment(.sample)
    #expect(try save(.sample(radio: radio)).map(\.fence.radio) == [radio])
    let text = try RadioColumn.text(radio)
    #expect(text?.contains(#""nr_cell":{"channel":632628,"kind":"nr","pci":31}"#) == true, "\(text ?? "")")
    #expect(text?.contains(#""rsrp":-101.5"#) == true && text?.contains(#""timing_advance":5"#) == true)
  }

  @Test("when a SIM has a pseudonym, then it is the same in the same store only, and does not show the number")
  func pseudonym() throws {
    let (one, other) = (StoreIdentity(uuid: "U1", lastFence: 1), StoreIdentity(uuid: "U2", lastFence: 1))
    // By sha256sum(1), of `U1:8943012345678901234`.
    #expect(one.pseudonym(ofSIM: "8943012345678901234") == "fe7d9c1d8c5f8433")
    #expect(other.pseudonym(ofSIM: "8943012345678901234") != one.pseudonym(ofSIM: "8943012345678901234"))
  }

  @Test("when the same report is encoded again, then its text is the same")
  func stable() throws {
    #expect(try RadioColumn.text(.sample) == RadioColumn.text(.sample))
    #expect(try RadioColumn.text(.sample)?.contains(#""cell_changes":2"#) == true)
  }

  @Test(
    "when the report has an unknown form, then the fence is read without it",
    arguments: ["", "{", "[]", #"{"levels":7}"#, #"{"future":true}"#])
  func otherForm(text: String) async throws {
    _ = try save(.sample(radio: .sample))
    try await store.database.write { try $0.execute(sql: "UPDATE fence SET radio = ?", arguments: [text]) }
    let stored = try #require(try fences().first)
    #expect(stored.fence.radio == nil)
    #expect(stored.fence.pings == 40)
  }

  @Test("when a bit of the report flips, then the row counts as damaged")
  func damaged() async throws {
    _ = try save(.sample(radio: .sample))
    try await store.database.write {
      try $0.execute(sql: "DROP TRIGGER fence_updated; UPDATE fence SET radio = replace(radio, '2', '3')")
    }
    #expect(try fences().isEmpty)
  }
}
