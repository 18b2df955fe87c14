import Coverage
import Foundation
import TestSupport

@testable import Store

/// The disk events of a store, and its content after each call that returned.
struct Recording {
  /// The files of the folder at the start, by name.
  let before: [String: Data]
  private(set) var events: [DiskEvent] = []
  /// For each call that returned: the number of events, and the content of the store at that time.
  private(set) var acknowledged: [(events: Int, content: StoreContent)]

  init(before: [String: Data] = [:], content: StoreContent = .empty) {
    self.before = before
    acknowledged = [(0, content)]
  }

  /// Notes that a call has returned.
  mutating func acknowledge(_ store: DriveStore, _ trace: DiskTrace) throws {
    acknowledged.append((trace.count, try StoreContent(store)))
  }

  mutating func end(_ trace: DiskTrace) { events = trace.events }

  /// A power cut between two events.
  struct Cut {
    /// The files that are left in the folder, by name.
    let files: [String: Data]
    let acknowledged: StoreContent
    /// The content that the interrupted call would have left.
    let underWay: StoreContent
  }

  /// Power cuts at random moments.
  func cuts(_ count: Int, _ random: inout SeededGenerator, _ take: (Cut, inout SeededGenerator) async throws -> Void)
    async throws
  {
    var disk = SimulatedDisk(before)
    var applied = 0
    let moments = (0..<count).map { _ in Int.random(in: 0...events.count, using: &random) }.sorted()
    for moment in moments {
      while applied < moment {
        disk.apply(events[applied])
        applied += 1
      }
      let last = acknowledged.lastIndex { $0.events <= moment } ?? 0
      let next = min(last + 1, acknowledged.count - 1)
      let cut = Cut(
        files: disk.afterCut(&random), acknowledged: acknowledged[last].content, underWay: acknowledged[next].content)
      try await take(cut, &random)
    }
  }
}

/// The folder of a store on a disk that records every write.
struct TracedFolder: ~Copyable {
  let directory: StateDirectory
  let trace: DiskTrace
  let reports = Collected<Salvage>()

  init(_ path: String, files: [String: Data] = [:]) throws {
    directory = StateDirectory(path: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: path + "/" + name)) }
    trace = try DiskTrace(folder: path)
  }

  func open() throws -> DriveStore {
    try DriveStore(directory: directory, purpose: "a test") { [reports] in reports.append($0) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory.path) }
}
