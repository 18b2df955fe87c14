/// Why a file cannot be read as a drive log, or a drive log cannot be written.
public enum DriveLogError: Error, Hashable, CustomStringConvertible {
  case unreadable(path: String, reason: String)
  case notADriveLog
  case badHeader(String)
  case unsupportedVersion(Int)
  case badStart(String)
  case badPath(String)
  case unwritable(path: String, reason: String)

  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read drive log \(path): \(reason)"
    case .notADriveLog: "not a drive log: the first line must be an object with \"drive\":1"
    case .badHeader(let reason): "the first line of the drive log is no header: \(reason)"
    case .unsupportedVersion(let version): "drive log of version \(version): this program reads version 1"
    case .badStart(let text): "drive log starts at \"\(text)\": expected a time like 2026-11-20T10:00:00.000Z"
    case .badPath(let path): "drive log has initial_path \"\(path)\": expected cellular, wifi or none"
    case .unwritable(let path, let reason): "cannot write drive log \(path): \(reason)"
    }
  }
}
