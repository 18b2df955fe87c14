/// Why a recording cannot be played, for the operator.
struct PlayerError: Error, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
