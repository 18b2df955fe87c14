import Coverage
import TestSupport
import Testing

@testable import Store

/// Reading speed tests page by page.
@Suite struct StoredSpeedTestsTests {
  @Test(
    "when there are more tests than a page holds, then each is read once, oldest first", arguments: [0, 1, 3, 4, 7])
  func pages(count: Int) async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    for number in 0..<count {
      _ = try await store.speedTests.begin(
        .init(
          controlServer: "http://host", clientUUID: "C", testUUID: "T\(number)", token: "t", started: .sampleStart))
    }
    var tests = StoredSpeedTests(StoreReader(store))
    tests.size = 3
    var read: [String] = []
    try tests.forEach { read.append($0.testUUID) }
    #expect(read == (0..<count).map { "T\($0)" })
  }

  @Test("when a test was deleted, then the gap in the ids changes nothing")
  func gap() async throws {
    let folder = try TemporaryFolder()
    let store = try DriveStore(directory: StateDirectory(path: folder.file("state")), purpose: "a test")
    var ids: [Int64] = []
    for number in 0..<6 {
      ids.append(
        try await store.speedTests.begin(
          .init(
            controlServer: "http://host", clientUUID: "C", testUUID: "T\(number)", token: "t", started: .sampleStart)))
    }
    try await store.speedTests.end(ids[1], .init(.failed, at: .sampleStart, figures: nil))
    #expect(try await store.speedTests.forget(ids[1]))
    var tests = StoredSpeedTests(StoreReader(store))
    tests.size = 2
    var read: [Int64] = []
    try tests.forEach { read.append($0.id) }
    #expect(read == ids.filter { $0 != ids[1] })
  }
}
