/// The mistake in a list of the configuration.
struct ListMistake: Error {
  /// Empty when the value is not a list.
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
