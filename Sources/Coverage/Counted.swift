/// `1 fence`, `2 fences`: a number with its noun, for a person.
/// - Parameter plural: Where it is not the noun with an s.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
