import Coverage

/// What the disk refuses of an ended drive.
public struct UnsavedDrive: Hashable, Sendable {
  /// Fences of which the store has nothing, those that the server has included.
  public internal(set) var fences = 0
  /// Of these, the fences that the server has from memory.
  public internal(set) var submitted = 0
  /// Lines of the drive log that are in memory only.
  public internal(set) var logLines = 0
  /// Whether the store has all of the drive.
  public internal(set) var isStored = true
  /// The links whose drives are concerned, if there are several links.
  private var links: [String] = []
  /// Their names, for the log; `nil` when there is one link only.
  public var link: String? { links.isEmpty ? nil : links.joined(separator: ", ") }
  /// Why, in one line; `nil` when all of the drive is on the disk.
  public internal(set) var trouble: String?

  /// Nothing.
  public init() {}

  init(_ journal: DriveJournal, link: String?) {
    links = link.map { [$0] } ?? []
    (fences, logLines) = (journal.unstoredFenceCount, journal.waitingLines)
    (isStored, trouble) = (journal.isStored, journal.trouble ?? "")
  }

  /// Fences that are nowhere but in memory.
  public var endangered: Int { fences - submitted }

  mutating func add(_ other: UnsavedDrive) {
    fences += other.fences
    logLines += other.logLines
    links += other.links
    isStored = isStored && other.isStored
    trouble = other.trouble ?? trouble
  }

  /// In a few words for an operator; `nil` when all of the drive is on the disk.
  public var words: String? {
    guard trouble != nil else { return nil }
    var parts: [String] = []
    if endangered > 0 { parts.append("\(counted(endangered, "fence is", "fences are")) in memory only") }
    if submitted > 0 {
      parts.append(
        "\(counted(submitted, "fence was", "fences were")) submitted from memory and \(submitted == 1 ? "waits" : "wait") for the disk"
      )
    }
    if isStored, logLines > 0 { parts.append("\(counted(logLines, "line")) of the drive log in memory only") }
    return parts.isEmpty ? "the end of the drive waits for the disk" : parts.joined(separator: "; ")
  }
}
