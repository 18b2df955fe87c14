import Testing

@testable import Service

/// When `status` looks for the programs that have receivers' ports open.
struct PortQuestionTests {
  private let place = #"{"latitude":48.2,"longitude":16.3,"age_s":0.9}"#

  private func question(_ members: String) -> PortQuestion? { PortQuestion(status: "{\(members)}") }

  @Test("when there is a fresh position and no drive waits for one, then the ports are not examined")
  func position() {
    #expect(question(#""position":\#(place),"drives":[{"warnings":["waiting for a test"]}]"#) == nil)
    #expect(question(#""position":\#(place),"receivers":["/dev/ttyACM0"],"drives":[]"#) == nil)
  }

  @Test(
    "when there is no position, an old one, or a lost one, then the ports of gpsd's receivers are examined",
    arguments: [
      "", #""position":{"latitude":48.2,"longitude":16.3,"age_s":5.1},"#, #""position":{"age_s":0.5},"#,
      #""position":{"latitude":48.2,"longitude":16.3},"#,
    ])
  func noPosition(members: String) {
    #expect(question("\(members)\"receivers\":[\"/dev/ttyS3\"],\"drives\":[]")?.receivers == ["/dev/ttyS3"])
    #expect(question("\(members)\"drives\":[]")?.receivers == [])
  }

  @Test("when a drive on any link waits for a position, then the ports are examined")
  func waiting() {
    let drives = #"[{"warnings":[]},{"warnings":["the clock is not set","waiting for GPS (no position)"]}]"#
    #expect(question(#""position":\#(place),"drives":\#(drives)"#) != nil)
  }

  @Test(
    "when the answer is not a status, then the ports are not examined",
    arguments: ["", "idle", "[]", "{}", #"{"drives":1}"#])
  func strange(text: String) {
    #expect(PortQuestion(status: text) == nil)
  }
}
