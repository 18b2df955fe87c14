/// Why a file of a verification cannot be read.
struct UnreadableEvidence: Error, Hashable, CustomStringConvertible {
  /// The path of the file.
  let path: String
  /// The reason, possibly with the path.
  let reason: String

  /// Path and reason, in one line.
  var description: String { reason.contains(path) ? reason : "\(path): \(reason)" }
}
