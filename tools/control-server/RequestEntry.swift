/// A request in the log.
struct RequestEntry: Sendable {
  var method: String
  var path: String
  var peer: String?
  var fault: String?
  /// `nil`: no answer was sent.
  var status: Int?
  /// Why it was refused; the answer does not always contain the reason.
  var reason: String?
  var body: String
  /// The encoding of the body as received; `nil`: none.
  var encoding: String?
  /// The client's port.
  var port: Int?
}
