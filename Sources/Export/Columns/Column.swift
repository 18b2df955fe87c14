import OrderedJSON

/// A column of the exports: one value of a fence, with the same name in every format. ``ColumnList`` has all of them.
struct Column: Sendable {
  /// What its values are.
  enum Kind: String, Hashable, Sendable, CaseIterable {
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

  /// How a format with features of its own writes the value.
  enum Role: Hashable, Sendable {
    /// The number of the feature.
    case identity
    /// The place of the feature.
    case position
    /// A property of the feature.
    case property
    /// Data of the store about the fence, such as its state. Formats of JSON leave it out, as they leave out the number: their
    /// lines and properties are those of a replayed fence (docs/export.md).
    case record
  }

  /// The records that can have it.
  enum Source: Hashable, Sendable {
    /// Replayed fences only.
    case replay
    /// Fences of the store only.
    case store
    case both
  }

  /// The name, in ASCII letters, digits and `_`; a quantity ends with its unit.
  let name: String
  /// What its values are.
  let kind: Kind
  /// How a format with features of its own writes the value.
  let role: Role
  /// The records that can have it.
  let source: Source
  /// What it means, in one line of Markdown.
  let meaning: String
  /// The value of a fence; `nil` when it is unknown. Objects and arrays only for ``Kind/object``.
  let value: @Sendable (FenceRecord) -> JSON?
  /// The name as the key of a JSON object, with quotes and colon.
  let key: [UInt8]

  /// - Parameters:
  ///   - meaning: In one line of Markdown: it becomes a row of docs/export.md and a description in a GeoPackage.
  ///   - value: Returns `nil` for an unknown value, and a ``JSON`` of the case that fits `kind`.
  init(
    _ name: String, _ kind: Kind, _ meaning: String, role: Role = .property, of source: Source = .both,
    value: @escaping @Sendable (FenceRecord) -> JSON?
  ) {
    (self.name, self.kind, self.meaning) = (name, kind, meaning)
    (self.role, self.source, self.value) = (role, source, value)
    key = Array("\"\(name)\":".utf8)
  }
}
