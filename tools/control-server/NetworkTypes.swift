/// What the real server's database knows of `network_type`: its table of types, and the rule of its trigger that deletes tests by their type
/// (docs/protocol.md, 3.7).
enum NetworkTypes {
  /// A row of the table `network_type`.
  struct Entry: Hashable, Sendable {
    let id: Int64
    /// `network_group_name` of a test.
    let group: String
    /// `network_group_type` of a test.
    let type: String
  }

  /// The rows with a type above 0; the trigger looks up no other.
  private static let all: [Int64: Entry] = {
    let groups: [(String, String, [Int64])] = [
      ("2G", "MOBILE", [1, 2, 4, 5, 6, 7, 11, 12, 14, 16]), ("3G", "MOBILE", [3, 8, 9, 10, 15, 17]),
      ("4G", "MOBILE", [13, 18, 19, 40]), ("5G", "MOBILE", [20, 41, 42]), ("2G/3G", "MOBILE", [101]),
      ("3G/4G", "MOBILE", [102]), ("2G/4G", "MOBILE", [103]), ("2G/3G/4G", "MOBILE", [104]),
      ("MOBILE", "MOBILE", [105]),
      ("NoNetwork", "MOBILE", [1000]), ("CLI", "CLI", [97]), ("LAN", "LAN", [98]), ("WLAN", "WLAN", [99]),
      ("Ethernet", "LAN", [106]), ("Bluetooth", "LAN", [107]), ("VPN", "LAN", [108]),
    ]
    let entries = groups.flatMap { group, type, ids in ids.map { Entry(id: $0, group: group, type: type) } }
    return Dictionary(uniqueKeysWithValues: entries.map { ($0.id, $0) })
  }()

  /// Tests with one of these types are taken for automated ones and deleted.
  private static let excluded: Set<Int64> = [97]
  /// Milliseconds after the start of a test; the trigger leaves older tests alone.
  private static let window: Int64 = 300_000

  /// The row of a type; `nil` for 0 and for a type that the table lacks.
  static func entry(_ id: Int64) -> Entry? { all[id] }

  /// Whether an update deletes its test.
  /// - Parameters:
  ///   - id: The test's type; `nil` deletes nothing.
  ///   - started: When the test started, in Unix milliseconds.
  ///   - now: Unix milliseconds.
  static func deletes(_ id: Int64?, started: Int64, now: Int64) -> Bool {
    guard let id, excluded.contains(id) else { return false }
    return now.subtractingReportingOverflow(started).partialValue < window
  }
}
