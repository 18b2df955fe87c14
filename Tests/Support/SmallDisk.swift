import Foundation

/// A small file system of its own, on a loop device: what happens to a card can happen to it. Needs CAP_SYS_ADMIN.
public final class SmallDisk: Sendable {
  private let folder: TemporaryFolder
  /// Where it is mounted.
  public let path: String

  /// Whether this host has loop devices, and the programs for them.
  public static let isAvailable =
    FileManager.default.fileExists(atPath: "/dev/loop-control") && Surroundings.program("mkfs.ext4") != nil
    && Surroundings.program("mount") != nil

  /// An empty ext4.
  /// - Parameter mebibytes: Its size.
  public init(mebibytes: Int = 40) throws {
    folder = try TemporaryFolder()
    path = folder.file("disk")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let image = folder.file("image")
    try Data().write(to: URL(fileURLWithPath: image))
    try FileHandle(forWritingAtPath: image)?.truncate(atOffset: UInt64(mebibytes) << 20)
    try Self.run("mkfs.ext4", ["-q", "-F", image])
    try Self.run("mount", ["-o", "loop", image, path])
  }

  /// Makes it read-only at once, as ext4 does after an error of the card: open files included.
  public func abort() throws { try Self.run("mount", ["-o", "remount,abort", path]) }

  /// Holds up each write from now on, as a card does that collects its garbage, until ``thaw()``.
  public func freeze() throws { try Self.run("fsfreeze", ["--freeze", path]) }

  public func thaw() throws { try Self.run("fsfreeze", ["--unfreeze", path]) }

  /// Mounts it again, as after a repair.
  public func mountAgain() throws {
    try Self.run("umount", [path])
    try Self.run("mount", ["-o", "loop", folder.file("image"), path])
  }

  private struct Failed: Error { let command: [String] }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = Surroundings.program(program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(command: [program] + arguments) }
  }

  deinit {
    // A test that failed can leave it frozen.
    try? thaw()
    umount2(path, CInt(MNT_DETACH))
  }
}
