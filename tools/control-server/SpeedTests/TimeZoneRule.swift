import Foundation

/// Which time zones the server knows: those of the IANA database, not Foundation's abbreviations and offsets.
enum TimeZoneRule {
  private static let names = Set(TimeZone.knownTimeZoneIdentifiers).union(["UTC", "GMT", "Etc/UTC", "Etc/GMT"])

  static func accepts(_ name: String) -> Bool { names.contains(name) }
}
