import Coverage
import DriveStore
import Export

/// `export`: fences as files.
public struct Exporting: Sendable {
  /// Which fences.
  public enum Selection: String, Hashable, Sendable, CaseIterable {
    case submitted, pending, all
  }

  private let reader: StoreReader
  private let selection: Selection
  private let sessions: [StoredSession]

  /// - Parameter session: The id of the only session to export; `nil` for all.
  /// - Throws: `StoreError`, ``ExportError``
  public init(configuration: ProbeConfiguration, selection: Selection, session: Int64?) throws {
    reader = try StoreReader(directory: StateDirectory(path: configuration.stateDirectory))
    self.selection = selection
    guard let session else {
      sessions = try reader.sessions()
      return
    }
    guard let stored = try reader.session(id: session) else { throw ExportError.noSuchSession(session) }
    sessions = [stored]
  }

  /// Writes the fences, oldest session first, fences in order of entry.
  /// - Returns: How many fences were written, and how many of the chosen sessions were left out by the selection.
  public func run(format: ExportFormat, write: (String) throws -> Void) throws -> (written: Int, left: Int) {
    var written = 0
    var left = 0
    let records = try sessions.lazy.flatMap { try reader.fences(of: $0) }.compactMap { stored -> FenceRecord? in
      guard stored.fence.exited != nil else { return nil }
      guard selects(stored) else {
        left += 1
        return nil
      }
      written += 1
      return FenceRecord(stored)
    }
    try format.export(records, write: write)
    return (written, left)
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
