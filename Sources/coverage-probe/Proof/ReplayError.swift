/// Why a drive log cannot be replayed.
struct ReplayError: Error, Hashable, CustomStringConvertible {
  /// The path of the drive log.
  let path: String
  /// The reason, without the path.
  let reason: String

  /// Path and reason, in one line.
  var description: String { "\(path): \(reason)" }
}
