// The control of tools/fuzz: Sources/Export/Map/Basemap/BasemapFile.swift without the check of an offset that the file itself says.

import Foundation

/// A file that is read at any place, within bounds.
final class BasemapFile: Sendable {
  let path: String
  /// In bytes, when it was opened.
  let size: UInt64
  private let descriptor: CInt

  /// A part of the file, as the file says: it may lie outside.
  struct Section: Hashable, Sendable {
    let offset: UInt64
    let length: UInt64
  }

  /// - Throws: ``BasemapError`` for anything but a regular file that this user may read.
  init(path: String) throws {
    self.path = path
    // Not blocking: a pipe that nobody writes to would hold the export.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw BasemapError(path: path, reason: String(cString: strerror(errno))) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw BasemapError(path: path, reason: "it is no regular file")
    }
    size = UInt64(clamping: status.st_size)
  }

  deinit { close(descriptor) }

  func error(_ reason: String) -> BasemapError { BasemapError(path: path, reason: reason) }

  /// Bytes of a section; `nil` when there are more than `limit`, or none, or when they end behind the section or the file.
  /// - Throws: ``BasemapError`` when the disk fails.
  func read(_ section: Section, _ offset: UInt64, _ length: UInt64, atMost limit: Int) throws -> [UInt8]? {
    let start = section.offset + offset
    guard length > 0, length <= UInt64(clamping: limit), offset <= section.length,
      length <= section.length - offset, start <= size, length <= size - start
    else { return nil }
    let count = Int(clamping: length)
    var done = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while done < count {
        let part = pread(
          descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(clamping: start) + off_t(done))
        if part < 0, errno == EINTR { continue }
        guard part > 0 else { break }
        done += part
      }
      initialized = done
    }
    guard done == count else { throw error("it cannot be read to its end") }
    return bytes
  }
}

/// A base map that cannot be read.
struct BasemapError: Error, Hashable, CustomStringConvertible {
  let path: String
  let reason: String

  /// The file and the reason, in one line.
  var description: String { "the base map \(path) cannot be used: \(reason)" }
}
