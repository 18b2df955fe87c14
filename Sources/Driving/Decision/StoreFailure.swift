import Store

/// Why a write to the store failed.
struct StoreFailure: Hashable, Sendable {
  /// Decides how the journal reacts.
  enum Kind: Hashable, Sendable {
    /// Freeing space may help.
    case diskFull
    /// The file is damaged.
    case damage
    case other
  }

  let kind: Kind
  /// The error's description, in one line.
  let text: String
  /// The reason in words for an operator.
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
