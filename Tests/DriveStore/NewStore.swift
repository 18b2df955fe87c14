import Foundation
import TestSupport

@testable import DriveStore

extension DriveStore {
  /// A store as a first start leaves it: a copy of one that was made once, because a first start spends most of its time in migrations.
  convenience init(copiedTo directory: StateDirectory) throws {
    try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
    try NewStore.bytes.get().write(to: URL(fileURLWithPath: directory.database))
    try self.init(directory: directory, purpose: "a test")
  }
}

private enum NewStore {
  static let bytes = Result {
    let folder = try TemporaryFolder()
    let directory = StateDirectory(path: folder.path)
    let store = try DriveStore(directory: directory, purpose: "a test")
    try store.database.close()
    return try Data(contentsOf: URL(fileURLWithPath: directory.database))
  }
}
