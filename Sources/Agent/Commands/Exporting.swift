import Coverage
import DriveStore
import Export
import Settings

/// `export`: writes fences as files.
public struct Exporting: Sendable {
  /// Which fences to export.
  public enum Selection: String, Hashable, Sendable, CaseIterable {
    case submitted, pending, all
  }

  private let reader: StoreReader
  private let selection: Selection
  private let session: Int64?

  /// Opens the store for reading.
  /// - Parameters:
  ///   - configuration: Names the state directory.
  ///   - selection: Which fences to export.
  ///   - session: The id of the only session to export; `nil` for all.
  /// - Throws: `StoreError`, ``ExportError``
  public init(configuration: ProbeConfiguration, selection: Selection, session: Int64?) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    self.selection = selection
    self.session = session
    if let session, try reader.session(id: session) == nil { throw ExportError.noSuchSession(session) }
  }

  /// Writes the fences, oldest session first, the fences of a session in order of entry.
  /// - Parameters:
  ///   - format: The format of the output.
  ///   - write: Receives the output in pieces; errors that it throws end the export.
  /// - Returns: How many fences were written, and how many fences of the chosen sessions the selection left out.
  /// - Throws: GRDB's `DatabaseError`, and errors of `write`.
  public func run(format: ExportFormat, write: ([UInt8]) throws -> Void) throws -> (written: Int, left: Int) {
    let chosen = ChosenFences(stored: StoredFences(reader, session: session), selection: selection)
    try format.export(chosen, write: write)
    return (chosen.count.written, chosen.count.left)
  }
}

/// The ended fences of a selection.
private struct ChosenFences: FenceRecords {
  /// The counts of the last reading.
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
