import Foundation
import TestSupport
import Testing

@testable import Store

struct FileDigestTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(
    "when a file is read, then its digest is that of FIPS 180-4's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func examples(text: String, digest: String) throws {
    let file = try FileDigest(path: try folder.write(text, to: "file"))
    #expect(file == FileDigest(bytes: Int64(text.utf8.count), sha256: digest))
  }

  @Test("when a file is longer than a piece, then its digest is that of all of it, however the bytes come")
  func pieces() throws {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    let path = folder.file("long")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let wanted = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(try FileDigest(path: path) == FileDigest(bytes: 1_000_000, sha256: wanted))
    let digest = StreamedDigest()
    for start in stride(from: 0, to: bytes.count, by: 7919) {
      digest.add(bytes[start..<min(bytes.count, start + 7919)])
    }
    #expect(digest.bytes == 1_000_000 && digest.hexadecimal() == wanted)
  }

  @Test("when a path is no readable file, then the error names it, and nothing blocks, however the log is read")
  func unreadable() throws {
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for (path, reason) in [
      (folder.file("missing"), "No such file or directory"), (folder.path, "it is no regular file"),
      (pipe, "it is no regular file"),
    ] {
      let error = DriveLogError.unreadable(path: path, reason: reason)
      #expect(throws: error) { try FileDigest(path: path) }
      #expect(throws: error) { try LoggedPositions(path: path) }
      #expect(throws: error) { try RecordedDrive(path: path) }
    }
  }
}
