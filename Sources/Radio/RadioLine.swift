import Coverage
import Foundation

/// A line of the radio program's output (docs/measuring.md).
enum RadioLine: Hashable {
  /// A known technology, or no service (an empty line, `none`, `NONE`); with the modem's other values from a line of JSON.
  case reading(RadioReading)
  /// Any other text, at most 60 characters of it.
  case unknown(String)

  init(_ line: String) {
    let text = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    if text.first == "{" {
      let value = try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
      guard let value, let technology = Self.technology(value.technology ?? "none") else {
        self = .unknown(String(text.prefix(60)))
        return
      }
      self = .reading(Self.reading(technology, value.modem))
    } else if let technology = Self.technology(text) {
      self = .reading(Self.reading(technology))
    } else {
      self = .unknown(String(text.prefix(60)))
    }
  }

  /// `nil` for an unknown name; ``Technology/none`` for no service.
  private static func technology(_ name: String) -> Technology? {
    if ["", "none", "NONE"].contains(name) { return Technology.none }
    return Technology(name).isKnown ? Technology(name) : nil
  }

  private static func reading(_ technology: Technology, _ modem: ModemReading? = nil) -> RadioReading {
    RadioReading(technology: technology == .none ? nil : technology, modem: modem)
  }

  /// A line of JSON: the technology beside the members of a drive log's `modem`.
  private struct Value: Decodable {
    let technology: String?
    let modem: ModemReading

    private enum Key: String, CodingKey {
      case technology
    }

    init(from decoder: any Decoder) throws {
      technology = try decoder.container(keyedBy: Key.self).decodeIfPresent(String.self, forKey: .technology)
      modem = try ModemReading(from: decoder)
    }
  }
}
