import Coverage

/// The intact fences of a store in constant memory: oldest session first, the fences of a session in order of entry.
///
/// They are read in portions, so that no transaction stays open while a slow consumer handles them: the write-ahead
/// log would grow for that long. A fence that ends meanwhile may be included or not; none is included twice.
public struct StoredFences: Sendable {
  private let reader: StoreReader
  private let session: Int64?
  var size = FencePages.Size()

  /// - Parameters:
  ///   - reader: Reads the store.
  ///   - session: The id of the only session; `nil`: all sessions.
  public init(_ reader: StoreReader, session: Int64? = nil) {
    (self.reader, self.session) = (reader, session)
  }

  /// Calls `body` with each fence, while the next ones are read on another thread.
  /// - Parameter body: Receives the fences; all counts of their sessions are 0.
  /// - Throws: GRDB's `DatabaseError`, and errors of `body`.
  public func forEach(_ body: (StoredFence) throws -> Void) throws {
    var pages = FencePages(reader, session: session, size: size)
    let ahead = ReadAhead { try pages.next() }
    while let page = try ahead.next() { try page.forEach(body) }
  }
}
