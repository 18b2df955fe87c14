import Coverage

/// A drive has ended, and not all of it could be stored.
enum RecordingError: Error, CustomStringConvertible {
  case unsaved(fences: Int, trouble: String)

  var description: String {
    switch self {
    case .unsaved(let fences, let trouble):
      "\(counted(fences, "fence is", "fences are")) lost because the disk refused them: \(trouble); the others wait for \(Program.name) submit"
    }
  }
}
