import DriveStore

/// Why the store could not be written.
struct StoreFailure: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Room on the disk may help.
    case diskFull
    /// The file is damaged.
    case damage
    case other
  }

  let kind: Kind
  /// One line, as the error describes itself.
  let text: String
  /// For a person.
  let reason: String
  let remedy: String?

  init(kind: Kind, text: String, reason: String, remedy: String? = nil) {
    (self.kind, self.text, self.reason, self.remedy) = (kind, text, reason, remedy)
  }

  init(_ error: any Error) {
    kind = StoreError.isDiskFull(error) ? .diskFull : StoreError.isDamage(error) ? .damage : .other
    text = "\(error)"
    (reason, remedy) = StoreError.writeTrouble(error)
  }
}
