import Foundation

/// The language and the time zone of this host, from its environment and files.
struct HostLocale {
  var environment: [String: String]
  /// The content of a file; `nil` when it cannot be read.
  var read: (_ path: String) -> String?
  /// The target of a symbolic link; `nil` for another file.
  var linkTarget: (_ path: String) -> String?

  static var thisHost: HostLocale {
    HostLocale(
      environment: ProcessInfo.processInfo.environment,
      read: { FileManager.default.contents(atPath: $0).map { String(decoding: $0, as: UTF8.self) } },
      linkTarget: { try? FileManager.default.destinationOfSymbolicLink(atPath: $0) })
  }

  // MARK: Language

  /// The ISO 639 code of the language of messages: of the first setting that names one (locale(7)), for a service without an environment of
  /// the host's; else `en`.
  var language: String {
    let own = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    if let own { return Self.language(of: own) ?? "en" }
    let files = ["/etc/locale.conf", "/etc/default/locale"].lazy.compactMap(read)
    return files.compactMap { Self.value(of: "LANG", in: $0).flatMap(Self.language) }.first ?? "en"
  }

  /// `de` of `de_AT.UTF-8@euro`; `nil` of `C`, `POSIX` and `C.UTF-8`.
  private static func language(of locale: String) -> String? {
    let code = locale.prefix { $0.isASCII && $0.isLetter }
    return (2...3).contains(code.count) && code.allSatisfy(\.isLowercase) ? String(code) : nil
  }

  /// The value of a variable in a file of assignments, without quotes.
  private static func value(of name: String, in text: String) -> String? {
    let line = text.split(separator: "\n").last { $0.hasPrefix("\(name)=") }
    return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: CharacterSet(charactersIn: "\"' ")) }
  }

  // MARK: Time zone

  private static let folder = "/usr/share/zoneinfo/"

  /// The IANA name of the time zone: of `TZ` (`Europe/Vienna`, `:Europe/Vienna`, or the path of a zone), else of the host; an old name is replaced
  /// by its current one, because servers need not know it. `Etc/UTC` where the host has no name.
  var timezone: String {
    let own = environment["TZ"].flatMap { $0.isEmpty ? nil : $0.hasPrefix(":") ? String($0.dropFirst()) : $0 }
    let candidates = own.map { [$0] } ?? [linkTarget("/etc/localtime"), read("/etc/timezone")].compactMap { $0 }
    return candidates.lazy.compactMap { zone($0) }.first ?? "Etc/UTC"
  }

  /// The current name of a zone; `nil` for text that names none, such as `CET-1CEST`.
  private func zone(_ text: String) -> String? {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    var name = trimmed.range(of: "zoneinfo/").map { String(trimmed[$0.upperBound...]) } ?? trimmed
    for tree in ["posix/", "right/"] where name.hasPrefix(tree) { name.removeFirst(tree.count) }
    guard !name.isEmpty, !name.hasPrefix("/"), !name.contains(".."), name != "localtime" else { return nil }
    guard let list = read(Self.folder + "tzdata.zi") else { return read(Self.folder + name) == nil ? nil : name }
    return Self.isCurrent(name, read(Self.folder + "zone.tab")) ? name : Self.target(of: name, in: list)
  }

  private static func isCurrent(_ name: String, _ table: String?) -> Bool {
    if ["UTC", "GMT"].contains(name) || name.hasPrefix("Etc/") { return true }
    return table?.split(separator: "\n").contains { $0.split(separator: "\t").dropFirst(2).first == name[...] } ?? false
  }

  /// The zone itself, or that of which it is another name (`L TARGET NAME`; zic(8)); `nil` for an unknown one.
  private static func target(of name: String, in list: String) -> String? {
    for line in list.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count >= 2 else { continue }
      if words[0] == "Z", words[1] == name[...] { return name }
      if words[0] == "L", words.count == 3, words[2] == name[...] { return String(words[1]) }
    }
    return nil
  }
}
