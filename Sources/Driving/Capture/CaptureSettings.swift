import Coverage
import Glibc
import OrderedJSON
import Store

/// Where a capture is written, and how much of it is stored.
public struct CaptureSettings: Hashable, Sendable {
  /// The files are named `path`-0001.pcap and so on. Numbers continue after those of earlier captures, which stay.
  public var path: String
  /// The largest size of a file, in bytes.
  public var fileSize: UInt64
  /// The number of files of this capture that are stored; its oldest are deleted.
  public var fileCount: UInt32

  /// 16 MiB.
  public static let defaultFileSize: UInt64 = 16 << 20
  /// 16 files.
  public static let defaultFileCount: UInt32 = 16
  /// The range of ``fileSize``, in bytes.
  public static let fileSizes: ClosedRange<UInt64> = 8192...4 << 30

  /// - Parameters:
  ///   - path: The path without number and suffix.
  ///   - fileSize: In bytes, within ``fileSizes``.
  ///   - fileCount: At least 1.
  public init(path: String, fileSize: UInt64 = defaultFileSize, fileCount: UInt32 = defaultFileCount) {
    (self.path, self.fileSize, self.fileCount) = (path, fileSize, fileCount)
  }

  /// Opens the capture and its first file.
  /// - Throws: ``CaptureRefusal``
  func open() throws(CaptureRefusal) -> PacketCapture {
    var options = PacketCapture.Options(path: path)
    (options.fileSize, options.fileCount) = (fileSize, fileCount)
    do {
      return try PacketCapture(options)
    } catch {
      throw CaptureRefusal(path: path, error: error)
    }
  }
}

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

/// The result of a capture.
public struct CaptureSummary: Hashable, Sendable {
  let settings: CaptureSettings
  let state: PacketCapture.State
  /// How many times it was in trouble.
  let troubles: Int

  /// The numbers of the files of this capture that were not deleted.
  var files: ClosedRange<UInt32> {
    let newest = max(state.firstFile, state.files)
    let made = newest - state.firstFile + 1
    return (newest - min(made, settings.fileCount) + 1)...newest
  }

  var filesRemoved: UInt32 { files.lowerBound - state.firstFile }

  /// One line for an operator, e.g. `capture: 2 files, drive-0001.pcap to drive-0002.pcap; 7200 packets, 0
  /// dropped by the kernel`.
  public var line: String {
    let names =
      files.count == 1
      ? "1 file, \(name(files.lowerBound))"
      : "\(files.count) files, \(name(files.lowerBound)) to \(name(files.upperBound))"
    var parts = [counted(state.written, "packet"), "\(state.droppedByKernel) dropped by the kernel"]
    if state.droppedByInterface > 0 { parts.append("\(state.droppedByInterface) dropped by the interface") }
    if state.unwritten > 0 { parts.append("\(state.unwritten) refused by the disk") }
    if troubles > 0 { parts.append("\(counted(troubles, "time")) in trouble") }
    let removed = filesRemoved > 0 ? " (\(filesRemoved) older ones were removed)" : ""
    return "capture: \(names)\(removed); \(parts.joined(separator: ", "))"
  }

  /// The line for the drive log.
  var note: CaptureNote {
    CaptureNote(
      packets: Int64(clamping: state.written), droppedByKernel: Int64(clamping: state.droppedByKernel),
      droppedByInterface: Int64(clamping: state.droppedByInterface), unwritten: Int64(clamping: state.unwritten))
  }

  /// The same as a JSON object on one line, for `ping --json`.
  public var json: String {
    JSON.object([
      "capture": .object([
        "files": .array(files.map { .string(name($0)) }),
        "files_removed": .integer(Int64(filesRemoved)),
        "packets": .integer(Int64(clamping: state.written)),
        "dropped_by_kernel": .integer(Int64(clamping: state.droppedByKernel)),
        "dropped_by_interface": .integer(Int64(clamping: state.droppedByInterface)),
        "unwritten": .integer(Int64(clamping: state.unwritten)),
        "troubles": .integer(Int64(troubles)),
      ])
    ]).text
  }

  func name(_ number: UInt32) -> String {
    let digits = String(number)
    return "\(settings.path)-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits).pcap"
  }
}
