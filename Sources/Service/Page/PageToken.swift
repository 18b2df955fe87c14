import Foundation
import Store

/// The secret that opens the live page. It is a file of the state directory, readable by the service's user and root only.
struct PageToken: Hashable, Sendable {
  /// 32 lower-case letters and digits.
  let text: String

  private static let length = 32

  /// Reads the token of a state directory; `nil` when there is none, or the file has something else.
  init?(directory: String) {
    guard let data = FileManager.default.contents(atPath: Self.path(in: directory)), data.count <= 64 else {
      return nil
    }
    self.init(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines))
  }

  /// - Returns: `nil` unless the text has the form of a token.
  init?(_ text: String) {
    guard text.utf8.count == Self.length, text.utf8.allSatisfy(Self.isOfToken) else { return nil }
    self.text = text
  }

  private static func isOfToken(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// Makes another token, which replaces that of the directory: from now on, links and cookies with the old one open nothing.
  /// - Throws: `POSIXError`
  init(renewedIn directory: String) throws {
    // About 165 bits from the kernel.
    var generator = SystemRandomNumberGenerator()
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    text = String((0..<Self.length).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
    let path = Self.path(in: directory)
    var name = Array("\(path)-XXXXXX".utf8CString)
    // With mode 0600.
    let descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw Self.error }
    defer { close(descriptor) }
    // `page` can be run as root: the service's user must be able to read the file.
    StateFile.giveToOwner(of: directory, descriptor)
    let bytes = Array((text + "\n").utf8)
    let temporary = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
    guard DescriptorOutput.write(bytes, to: descriptor), fsync(descriptor) == 0, rename(temporary, path) == 0 else {
      let error = Self.error
      unlink(temporary)
      throw error
    }
  }

  private static var error: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  private static func path(in directory: String) -> String { directory + "/page-token" }

  /// Compares in a time that does not depend on the place of the first difference.
  func matches(_ other: String) -> Bool {
    let (own, theirs) = (Array(text.utf8), Array(other.utf8))
    guard own.count == theirs.count else { return false }
    return zip(own, theirs).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
