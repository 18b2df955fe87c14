/// Why a file cannot be read as a drive log, or a drive log cannot be written.
public enum DriveLogError: Error, Hashable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(path: String, reason: String)
  /// The first line is not an object with the member `drive`.
  case notADriveLog
  /// A member of the first line is missing or has the wrong type.
  case badHeader(String)
  /// The log has a version that this program does not read.
  case unsupportedVersion(Int)
  /// `started` is not a time.
  case badStart(String)
  /// `initial_path` is not a path.
  case badPath(String)
  /// The file cannot be created or written.
  case unwritable(path: String, reason: String)

  /// One line for the operator.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read drive log \(path): \(reason)"
    case .notADriveLog: "not a drive log: the first line must be an object with \"drive\":1"
    case .badHeader(let reason): "the first line of the drive log is not a header: \(reason)"
    case .unsupportedVersion(let version): "drive log of version \(version): this program reads version 1"
    case .badStart(let text): "drive log starts at \"\(text)\": expected a time like 2026-11-20T10:00:00.000Z"
    case .badPath(let path): "drive log has initial_path \"\(path)\": expected cellular, wifi or none"
    case .unwritable(let path, let reason): "cannot write drive log \(path): \(reason)"
    }
  }
}
