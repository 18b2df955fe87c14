import Testing

@testable import Settings

/// The known name that a misspelt name most likely means.
struct ConfigurationNameTests {
  @Test(
    "when a name is misspelt, then the known name with the least edits is nearest, regardless of case",
    arguments: [
      ("prot", "port"), ("hots", "host"), ("devcie", "device"), ("PORT", "port"), ("Hst", "host"), ("portt", "port"),
    ])
  func misspelt(name: String, expected: String) {
    #expect(ConfigurationName.nearest(to: name, among: ["device", "host", "port"]) == expected)
  }

  @Test("when a key is in the wrong group, then the key with the same last part wins over a more similar name")
  func displaced() {
    let known = ["pings.timeouts", "recovery.timeout", "gpsd.host"]
    #expect(ConfigurationName.nearest(to: "pings.timeout", among: known) == "recovery.timeout")
    #expect(ConfigurationName.nearest(to: "host", among: known) == "gpsd.host")
  }

  @Test("when several known names end in the same part, then the most similar of them is nearest")
  func severalDisplaced() {
    let known = ["recovery.backoff", "submission.backoff"]
    #expect(ConfigurationName.nearest(to: "submision.backoff", among: known) == "submission.backoff")
    #expect(ConfigurationName.nearest(to: "recover.backoff", among: known) == "recovery.backoff")
  }

  @Test("when a name is empty or no name is known, then a name or an empty text is still returned")
  func empty() {
    #expect(ConfigurationName.nearest(to: "", among: ["device", "port"]) == "port")
    #expect(ConfigurationName.nearest(to: "port", among: []) == "")
  }
}
