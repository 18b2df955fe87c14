import Foundation

@testable import DriveStore

/// What a store has told of its salvages.
final class SalvageReports: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [Salvage] = []
  func add(_ salvage: Salvage) { lock.withLock { all.append(salvage) } }
  var list: [Salvage] { lock.withLock { all } }
}
