import Coverage
import Testing

@testable import SystemServices

/// `radio.source` of the configuration.
struct RadioSourceTests {
  @Test("when the source is written as in the configuration, then it is parsed; ModemManager has two spellings")
  func sources() {
    #expect(RadioSource("none") == RadioSource.none)
    #expect(RadioSource("auto") == .auto)
    #expect(RadioSource("modem-manager") == .modemManager)
    #expect(RadioSource("modemmanager") == .modemManager)
    #expect(RadioSource("fixed:4G/LTE") == .fixed(Technology("4G/LTE")))
    #expect(RadioSource("command:/usr/bin/radio") == .command("/usr/bin/radio"))
    #expect(RadioSource("command:/a:b") == .command("/a:b"))
  }

  @Test(
    "when the source has another form, then it is rejected",
    arguments: [
      "", "None", "modem", "AUTO", "fixed:", "fixed:none", "fixed:6G", "fixed:4g/lte", "fixed: 4G/LTE", "command",
      "command:",
      "file:/x",
    ])
  func others(text: String) {
    #expect(RadioSource(text) == nil)
  }
}
