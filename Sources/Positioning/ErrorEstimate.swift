extension Double? {
  /// The value as an estimate of an error; `nil` for zero, negative and infinite values and for NaN, which no receiver measures.
  var asErrorEstimate: Double? {
    guard let self, self.isFinite, self > 0 else { return nil }
    return self
  }
}
