/// The answer to a GET.
struct FetchedPage: Hashable, Sendable {
  let status: Int
  /// `Name: value`, a line each, as they came.
  let header: String
  /// Bytes of the body.
  let length: Int64
  /// The body's MD5 in hexadecimal digits.
  let hash: String
}
