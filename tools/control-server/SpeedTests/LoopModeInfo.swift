import Foundation

/// `loopmode_info` of a request for a speed test.
struct LoopModeInfo: Sendable {
  /// `nil`: the server generates one.
  let uuid: String?
  let testCounter: Int64?

  init(_ fields: Fields) throws {
    uuid = try fields.uuid("loop_uuid", afterLetter: "L")
    if let text = try fields.string("loop_uuid"), uuid == nil { throw Refusal.listed("invalid loop_uuid \(text)") }
    testCounter = try fields.integerOrText("test_counter")
    for key in ["max_delay", "max_movement", "max_tests"] { _ = try fields.integerOrText(key) }
  }
}
