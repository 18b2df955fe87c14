import Coverage
import Foundation
import GRDB

/// The store's key for a control server: its URL without user information, so that no password is stored in clear
/// text.
enum ServerKey {
  static func of(_ url: String) -> String {
    guard let scheme = url.range(of: "://") else { return url }
    let rest = url[scheme.upperBound...]
    // Everything before the last @ of the authority.
    let authority = rest.prefix { !"/?#".contains($0) }
    guard let end = authority.lastIndex(of: "@") else { return url }
    return String(url[..<scheme.upperBound] + rest[rest.index(after: end)...])
  }
}

/// The drive logs that rows of drives name, damaged rows included.
enum NamedLogs {
  static func all(in directory: StateDirectory, _ db: Database) throws -> Set<String> {
    Set(try String.fetchAll(db, sql: "SELECT log FROM drive WHERE log IS NOT NULL").map(directory.driveLog))
  }
}

/// The column `session.equipment`: JSON as in a drive log.
enum EquipmentColumn {
  /// `nil` without one, and for another form, such as a later release's.
  static func read(_ text: String?) -> ModemEquipment? {
    text.flatMap { try? JSONDecoder().decode(ModemEquipment.self, from: Data($0.utf8)) }
  }
}

/// The column `fence.radio`: JSON with sorted keys, so that the same report always gives the same row.
enum RadioColumn {
  static func text(_ radio: FenceRadio?) throws -> String? {
    guard let radio else { return nil }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(radio), as: UTF8.self)
  }

  /// `nil` without a report, and for one in another form, such as a later release's: the fence's other figures count without it.
  static func read(_ text: String?) -> FenceRadio? {
    text.flatMap { try? JSONDecoder().decode(FenceRadio.self, from: Data($0.utf8)) }
  }
}
