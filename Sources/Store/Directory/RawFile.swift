import Foundation

/// A file that may be unreadable in parts.
final class RawFile: Sendable {
  private let descriptor: CInt
  let bytes: Int

  var exists: Bool { descriptor >= 0 }

  init(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    var status = stat()
    let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    bytes = isFile ? Int(status.st_size) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func read(_ place: Int, _ count: Int) -> [UInt8]? {
    guard bytes > 0, place >= 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: count)
    return pread(descriptor, &buffer, count, off_t(place)) == count ? buffer : nil
  }
}
