import Export
import Foundation
import OrderedJSON
import Settings
import Store

/// The file of an export, and the file with its provenance beside it if there is one. Both are opened before anything is read, and the
/// export gets its name last: an export that cannot be traced is none.
final class ExportFile {
  private let export: OutputFile
  private let provenance: OutputFile?
  private let name: String?
  private let digest = StreamedDigest()

  /// Opens the files.
  /// - Parameters:
  ///   - output: The path of the export; `nil` and `-` mean standard output.
  ///   - isBeside: Whether the format has no place for it: then it is a file beside a regular file.
  /// - Throws: ``OutputError``
  init(_ output: String?, provenance: String?, isBeside: Bool) throws {
    export = try OutputFile(path: output)
    let isFile = export.isRegular
    name = isFile ? output.map { URL(fileURLWithPath: $0).lastPathComponent } : nil
    let path = provenance ?? (isBeside && isFile ? output.map { $0 + ".provenance.json" } : nil)
    self.provenance = try path.map { try OutputFile(path: $0) }
    for warning in [export.warning, self.provenance?.warning] { warning.map(Terminal.note) }
  }

  /// - Throws: ``OutputError``
  func write(_ bytes: [UInt8]) throws {
    if provenance != nil { digest.add(bytes) }
    try export.write(bytes)
  }

  /// Writes the provenance of a complete export; `nil` when no file is for it.
  var beside: ((ExportProvenance) throws -> Void)? {
    guard let provenance else { return nil }
    return { [digest, name] value in
      let whole = FileDigest(bytes: digest.bytes, sha256: digest.hexadecimal())
      try provenance.write(Array((value.json(beside: name, whole).text + "\n").utf8))
    }
  }

  /// - Throws: ``OutputError``
  func finish() throws {
    try provenance?.finish()
    try export.finish()
  }
}

extension ProbeConfiguration {
  /// The settings that decide fences, by their keys; times in seconds, lengths in metres, speeds in m/s.
  var provenance: JSON {
    .object([
      "location.accuracy-limit": .number(location.accuracyLimit),
      "location.minimum-radius": .number(location.minimumRadius),
      "location.maximum-speed": location.maximumSpeed.map(JSON.number) ?? .null,
      "location.speed-limit": location.speedLimit.map(JSON.number) ?? .null,
      "gpsd.stale-after": .seconds(gpsd.staleAfter),
      "pings.interval": .seconds(pings.interval),
      "pings.timeout": .seconds(pings.timeout),
    ])
  }
}
