import Coverage
import OrderedJSON

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

  /// One line for an operator, e.g. `capture: 2 files, drive-0001.pcapng to drive-0002.pcapng; 7200 packets, 0
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
    return "\(settings.path)-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits).pcapng"
  }
}
