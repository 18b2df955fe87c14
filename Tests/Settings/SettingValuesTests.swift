import Testing

@testable import Settings

/// Texts of single settings, at the edges of their forms.
struct SettingValuesTests {
  @Test(
    "when a URL ends with slashes, then they are dropped; the rest is unchanged",
    arguments: [
      ("https://host", "https://host"), ("https://host///", "https://host"), ("http://host/a//b/", "http://host/a//b"),
      ("http://[2001:db8::1]:65535/x", "http://[2001:db8::1]:65535/x"), ("http://host:1/", "http://host:1"),
      ("https://me:word@host/x", "https://me:word@host/x"),
    ])
  func urls(text: String, expected: String) {
    #expect(Setting.url(text) == expected)
  }

  @Test(
    "when a URL has another scheme, no host, a query, a fragment or white space, then it is refused",
    arguments: [
      "", "http://", "https:///x", "ftp://host/", "HTTP://host/", "//host/x", "http://host/#a", "http://host/?",
      "http://host /x", "http://host:0/", "http://host:65536/", " http://host/",
    ])
  func noURLs(text: String) {
    #expect(Setting.url(text) == nil)
  }

  @Test(
    "when the kernel accepts a text as the name of an interface, then it is accepted",
    arguments: ["lo", "wwan0", "...", "eth0.100", "enx0123456789ab", "br-12345678901", "é1234567890123"])
  func interfaces(text: String) {
    #expect(LinkSettings.interface(text) == text)
  }

  @Test(
    "when the kernel refuses a text as the name of an interface, then it is refused",
    arguments: [
      "", ".", "..", "a/b", "a:1", "a b", "a\tb", "a\n", "1234567890123456", "é12345678901234",
      // The kernel compares bytes: a combining mark hides no slash, and the name ends at a zero.
      "a/\u{301}", "a:\u{301}", "wwan0\0x",
    ])
  func noInterfaces(text: String) {
    #expect(LinkSettings.interface(text) == nil)
  }

  @Test(
    "when a duration is shown, then it has the largest unit that divides it, and reads back as the same",
    arguments: [
      (0.25, "250ms"), (1, "1s"), (1.5, "1500ms"), (60, "1m"), (90, "90s"), (3600, "1h"), (5400, "90m"),
      (86_400, "1d"), (90_000, "25h"), (0, "0s"),
    ])
  func durations(seconds: Double, text: String) {
    #expect(DurationText.text(seconds) == text)
    #expect(DurationText.duration(text) == .milliseconds(Int(seconds * 1000)))
  }

  @Test("when a duration has more than a thousand million units, then it is refused and does not overflow")
  func longestDuration() {
    #expect(DurationText.duration("1000000000d") == .seconds(86_400) * 1_000_000_000)
    #expect(DurationText.duration("1000000001ms") == nil)
    #expect(DurationText.duration("9223372036854775808ms") == nil)
  }

  @Test(
    "when a size is shown, then it has the largest unit that divides it, and reads back as the same",
    arguments: [
      (1, "1"), (1023, "1023"), (1024, "1K"), (1536, "1536"), (16 << 20, "16M"), (1 << 30, "1G"), (1 << 40, "1024G"),
      (1025 << 20, "1025M"),
    ] as [(Int64, String)])
  func sizes(bytes: Int64, text: String) {
    #expect(SizeText.text(bytes) == text)
    #expect(SizeText.bytes(text) == UInt64(bytes))
  }

  @Test("when a quota is at an end of its range, then it is accepted; a byte beyond is refused")
  func quota() {
    #expect(Setting.size("16M") == 16 << 20 && Setting.size("16777216") == 16 << 20 && Setting.size("16m") == 16 << 20)
    #expect(Setting.size("1024G") == 1 << 40)
    #expect(Setting.size("16777215") == nil && Setting.size("1025G") == nil && Setting.size("0") == nil)
  }

  @Test(
    "when a key is misspelt, then the nearest key is suggested; for a key in the wrong group, the last part decides",
    arguments: [
      ("gpsd.prot", "gpsd.port"), ("GPSD.PORT", "gpsd.port"), ("pings.backoff", "recovery.backoff"),
      ("port", "gpsd.port"), ("intervall", "pings.interval"),
    ])
  func nearest(name: String, expected: String) {
    let known = ["gpsd.port", "gpsd.host", "pings.interval", "recovery.backoff", "submission.backoff"]
    #expect(ConfigurationName.nearest(to: name, among: known) == expected)
  }

  @Test("when no name is known, then no name is suggested")
  func nothingKnown() {
    #expect(ConfigurationName.nearest(to: "a", among: []).isEmpty)
  }
}
