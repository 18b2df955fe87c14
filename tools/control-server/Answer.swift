/// An answer before it is sent.
struct Answer: Sendable {
  var status: Int
  var contentType: String? = "application/json;charset=UTF-8"
  var retryAfter: String?
  var location: String?
  var body: String

  static func json(_ value: JSONValue, status: Int = 200) -> Answer { Answer(status: status, body: value.text) }

  static func error(_ text: String, status: Int) -> Answer { json(["error": [.string(text)]], status: status) }

  static let empty = Answer(status: 200, contentType: nil, body: "")
}
