import Foundation

/// The system's resolvers (resolv.conf(5)).
enum ResolverFile {
  static let path = "/etc/resolv.conf"

  /// The addresses of the lines `nameserver`, in their order.
  static func resolvers(_ text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      return words.count >= 2 && words[0] == "nameserver" ? String(words[1]) : nil
    }
  }

  /// The system's first resolver; `nil` when the file is missing or names none.
  static func first() -> String? {
    FileManager.default.contents(atPath: path).flatMap { resolvers(String(decoding: $0, as: UTF8.self)).first }
  }
}
