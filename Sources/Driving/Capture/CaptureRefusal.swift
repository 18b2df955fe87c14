import Glibc

/// A capture that cannot be opened: one line with the path, the reason and the remedy.
public struct CaptureRefusal: Error, Hashable, CustomStringConvertible {
  let path: String
  let error: CaptureError

  /// The line for the operator.
  public var description: String {
    let place = error.description.contains(path) ? "" : "--capture \(path): "
    return place + error.description + (remedy.map { "; \($0)" } ?? "")
  }

  private var remedy: String? {
    switch -error.code {
    case EPERM: "run it as root or with that capability, or leave out --capture"
    case ENOENT: "make the directory first, or give another name"
    case EACCES, EROFS, ENOTDIR, EISDIR, ENAMETOOLONG: "give a name where this user may write"
    case ENOSPC, EDQUOT: "make room, or give a name on another disk"
    case ENOSYS: "leave out --capture"
    default: nil
    }
  }
}
