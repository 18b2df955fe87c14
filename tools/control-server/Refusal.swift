/// Why a request is not carried out, in the forms of the real server.
enum Refusal: Error, Hashable {
  /// 400 with the text in the `error` list.
  case badRequest(String)
  /// 200 with the text in the `error` list, as requests for speed tests get it.
  case listed(String)
  /// 404 with the text in the `error` list.
  case notFound(String)
  /// An exception that the real server's logging filter swallows: 200 with an empty body. The text goes to the request log.
  case swallowed(String)

  static func format(_ text: String) -> Refusal { .badRequest("Invalid request format: \(text)") }
}
