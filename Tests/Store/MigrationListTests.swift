import Coverage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// The list of applied migrations, damaged.
struct MigrationListTests {
  @Test("when an entry of the list is no text, then the start repairs the store, and its fences are there")
  func noText() throws {
    let folder = try TemporaryFolder()
    let directory = StateDirectory(path: folder.file("state"))
    do {
      var recorder = try DriveRecorder(
        try DriveStore(directory: directory, purpose: "a test"), started: .sampleStart, log: nil)
      try recorder.save(
        sessions: [Session(number: 0, started: .start, finalized: .seconds(60))],
        fences: (0..<3).map { .sample(number: $0, entered: Double($0) * 10) }, seen: .seconds(60))
      try recorder.end(at: .seconds(60), reason: .user)
    }
    try DatabaseQueue(path: directory.database).writeWithoutTransaction { db in
      try db.execute(sql: "UPDATE grdb_migrations SET identifier = x'FF00' WHERE rowid = 2")
    }
    #expect(throws: StoreError.self) { try StoreReader(directory: directory) }
    let store = try DriveStore(directory: directory, purpose: "a test")
    #expect(try StoreReader(store).sessions().map(\.fences) == [3])
  }
}
