import Coverage
import Foundation

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
