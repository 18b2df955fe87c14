import Foundation
import TestSupport

@testable import Store

extension DriveStore {
  /// A store as a first start leaves it: a copy of a store made once, because a first start spends most of its
  /// time in migrations.
  convenience init(copiedTo directory: StateDirectory) throws {
    try directory.copyNewStore()
    try self.init(directory: directory, purpose: "a test")
  }
}

extension StateDirectory {
  /// Puts the file of a store there, as a first start leaves it.
  func copyNewStore() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try NewStore.bytes.get().write(to: URL(fileURLWithPath: database))
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
