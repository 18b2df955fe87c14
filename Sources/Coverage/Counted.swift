/// A number with its noun for people: `1 fence`, `2 fences`.
/// - Parameter plural: The plural; by default the noun with an s.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
