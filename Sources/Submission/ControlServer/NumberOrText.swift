/// An integer that some servers send as text.
struct NumberOrText: Decodable {
  /// `nil` for a value that is neither an integer of 64 bits nor its text.
  let number: Int64?

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    number = (try? value.decode(Int64.self)) ?? (try? value.decode(String.self)).flatMap { Int64($0) }
  }
}
