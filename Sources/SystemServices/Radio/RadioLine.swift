import Coverage
import Foundation

/// A line of the radio program's output (docs/radio.md). It only parses: ``RadioMonitor`` runs the program and logs unknown
/// lines.
enum RadioLine: Hashable {
  /// A known technology, or no service (an empty line, `none`, `NONE`); from a line of JSON also the modem's other values.
  case reading(RadioReading)
  /// Any other text, cut to 60 characters for the log: an unknown technology, or JSON of another form.
  case unknown(String)

  /// - Parameter line: Without its line end; spaces around it are ignored.
  init(_ line: String) {
    let text = String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    if text.first == "{" {
      // One wrong member refuses the whole line. A signal out of its range is dropped instead (`ModemReading`).
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

  /// A reading has no technology where there is no service; `Technology.none` is a name for the wire only.
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
