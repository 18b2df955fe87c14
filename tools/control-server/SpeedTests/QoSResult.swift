/// The body of POST /resultQoS, with its types checked.
struct QoSResult: Sendable {
  let token: String?
  let body: String

  init(_ fields: Fields, body: String) throws {
    token = try fields.string("test_token")
    guard let results = try fields.array("qos_result") else { throw Refusal.badRequest("qos_result is missing") }
    for result in results {
      _ = try result.required("qos_test_uid", result.integerOrText("qos_test_uid"))
      _ = try result.required("test_type", result.string("test_type"))
    }
    self.body = body
  }
}
