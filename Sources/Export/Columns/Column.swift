import OrderedJSON

/// A column of the exports: one value of a fence or of a speed test, with the same name in every format. ``ColumnList`` has those of
/// fences, ``SpeedTestColumns`` those of tests.
struct Column<Record>: Sendable {
  /// The name, in ASCII letters, digits and `_`; a quantity ends with its unit.
  let name: String
  /// What its values are; of a list, ``ColumnKind/object``: its text is JSON.
  let kind: ColumnKind
  /// How a format with features of its own writes the value.
  let role: ColumnRole
  /// The fences that can have it; speed tests are in the store.
  let source: ColumnSource
  /// What it means, in one line of Markdown.
  let meaning: String
  /// The value of a record; `nil` when it is unknown. Objects and arrays only for ``ColumnKind/object``.
  let value: @Sendable (Record) -> JSON?
  /// The name as the key of a JSON object, with quotes and colon.
  let key: [UInt8]

  init(
    _ name: String, _ kind: ColumnKind, _ meaning: String, role: ColumnRole = .property,
    of source: ColumnSource = .both,
    value: @escaping @Sendable (Record) -> JSON?
  ) {
    (self.name, self.kind, self.meaning) = (name, kind, meaning)
    (self.role, self.source, self.value) = (role, source, value)
    key = Array("\"\(name)\":".utf8)
  }
}

extension Column {
  static func text(
    _ name: String, _ meaning: String, of source: ColumnSource = .both,
    _ value: @escaping @Sendable (Record) -> String?
  ) -> Column {
    Column(name, .text, meaning, of: source) { value($0).map(JSON.string) }
  }

  static func count(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Record) -> Int?
  ) -> Column {
    Column(name, .integer, meaning) { value($0).map(JSON.count) }
  }

  /// A whole number that need not fit into 32 bits, unless `kind` says so.
  static func number(
    _ name: String, _ meaning: String, _ kind: ColumnKind = .long, of source: ColumnSource = .both,
    _ value: @escaping @Sendable (Record) -> Int64?
  ) -> Column {
    Column(name, kind, meaning, of: source) { value($0).map(JSON.integer) }
  }

  /// A number with at most two decimals.
  static func figure(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Record) -> Double?
  ) -> Column {
    Column(name, .decimal, meaning) { value($0).map { .figure($0, 2) } }
  }

  /// Nanoseconds as milliseconds.
  static func delay(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (Record) -> Int64?
  ) -> Column {
    Column(name, .decimal, meaning) { value($0).map(JSON.delay) }
  }
}

/// What the values of a column are.
enum ColumnKind: String, Hashable, Sendable, CaseIterable {
  /// A whole number of at most 32 bits.
  case integer
  /// A whole number of at most 64 bits. Readers that turn it into a binary number, such as JavaScript, have it exactly up
  /// to 53 bits.
  case long
  /// A number with decimals.
  case decimal
  case text
  case boolean
  /// A moment: ISO 8601, UTC, with milliseconds.
  case time
  /// An object of JSON; its text in formats that have none.
  case object
}

/// How a format with features of its own writes the value of a column.
enum ColumnRole: Hashable, Sendable {
  /// The number of the feature.
  case identity
  /// The place of the feature.
  case position
  /// A property of the feature.
  case property
  /// Data of the store about the fence, such as its state. Formats of JSON leave it out: apart from the number, the times
  /// and the provenance, their lines and properties are those of a replayed fence (docs/export.md).
  case record
  /// A list, in JSON Lines only.
  case list
}

/// The fences that can have a value in a column.
enum ColumnSource: Hashable, Sendable {
  /// Replayed fences only.
  case replay
  /// Fences of the store only.
  case store
  case both
}
