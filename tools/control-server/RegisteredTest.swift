/// A test that /coverageRequest has created.
struct RegisteredTest: Sendable {
  let uuid: String
  let loopUUID: String
  let loopCounter: Int64
}
