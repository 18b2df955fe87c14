/// A speed test that /testRequest has created.
struct RegisteredSpeedTest: Sendable {
  let uuid: String
  let openUUID: String
  let token: String
  /// `nil`: the test is no part of a loop.
  let loopUUID: String?
}
