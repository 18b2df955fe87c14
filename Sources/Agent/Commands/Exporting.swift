import Coverage
import DriveStore
import Export
import Settings

/// `export`: fences as files.
public struct Exporting: Sendable {
  /// Which fences.
  public enum Selection: String, Hashable, Sendable, CaseIterable {
    case submitted, pending, all
  }

  private let reader: StoreReader
  private let selection: Selection
  private let session: Int64?

  /// - Parameter session: The id of the only session to export; `nil` for all.
  /// - Throws: `StoreError`, ``ExportError``
  public init(configuration: ProbeConfiguration, selection: Selection, session: Int64?) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    self.selection = selection
    self.session = session
    if let session, try reader.session(id: session) == nil { throw ExportError.noSuchSession(session) }
  }

  /// Writes the fences, oldest session first, fences in order of entry.
  /// - Returns: How many fences were written, and how many of the chosen sessions were left out by the selection.
  public func run(format: ExportFormat, write: ([UInt8]) throws -> Void) throws -> (written: Int, left: Int) {
    let chosen = ChosenFences(stored: StoredFences(reader, session: session), selection: selection)
    try format.export(chosen, write: write)
    return (chosen.count.written, chosen.count.left)
  }
}

/// The closed fences of a selection.
private struct ChosenFences: FenceRecords {
  /// Of the last time that they were read.
  final class Count {
    var written = 0
    var left = 0
  }

  let stored: StoredFences
  let selection: Exporting.Selection
  let count = Count()

  func forEach(_ body: (FenceRecord) throws -> Void) throws {
    (count.written, count.left) = (0, 0)
    try stored.forEach { stored in
      guard stored.fence.exited != nil else { return }
      guard selects(stored) else {
        count.left += 1
        return
      }
      count.written += 1
      try body(FenceRecord(stored))
    }
  }

  private func selects(_ stored: StoredFence) -> Bool {
    switch selection {
    case .submitted: stored.submitted != nil
    case .pending: stored.submitted == nil && stored.fence.isSubmittable
    case .all: true
    }
  }
}

public enum ExportError: Error, Hashable, CustomStringConvertible {
  case noSuchSession(Int64)

  public var description: String {
    switch self {
    case .noSuchSession(let id): "there is no session \(id); coverage-probe sessions lists them"
    }
  }
}
