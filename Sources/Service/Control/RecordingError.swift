import Coverage

/// A drive has ended, and not all of it could be stored.
package enum RecordingError: Error, CustomStringConvertible {
  /// The disk refused fences to the end.
  /// - Parameter fences: Their number; the others are stored.
  case unsaved(fences: Int, trouble: String)

  package var description: String {
    switch self {
    case .unsaved(let fences, let trouble):
      "\(counted(fences, "fence is", "fences are")) lost because the disk refused them: \(trouble); the others wait for \(Program.name) submit"
    }
  }
}
