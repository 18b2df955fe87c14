import Coverage
import TestSupport
import Testing

@testable import Submission

struct RetryAfterTests {
  private static let date = "Fri, 20 Nov 2026 10:00:00 GMT"

  @Test(
    "when Retry-After is valid, then it gives a wait, relative to the response's own date",
    arguments: [
      ("1", 1), ("120", 120), ("  7\t", 7), ("007", 7), ("3600", 3600),
      ("Fri, 20 Nov 2026 10:00:30 GMT", 30), ("Friday, 20-Nov-26 10:01:00 GMT", 60), ("Fri Nov 20 10:02:00 2026", 120),
      // Longer waits: an hour.
      ("3601", 3600), ("Tue, 01 Dec 2026 10:00:00 GMT", 3600), ("99999999999999999999999999", 3600),
      ("9223372036854775807", 3600), ("4294967296", 3600), ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
    ])
  func usable(text: String, seconds: Int) {
    #expect(RetryAfter.wait(text, date: Self.date) == .seconds(seconds))
  }

  @Test(
    "when Retry-After is zero or in the past, then the server asks for no wait",
    arguments: [
      "0", "00", "Fri, 20 Nov 2026 10:00:00 GMT", "Fri, 20 Nov 2026 09:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ])
  func none(text: String) {
    #expect(RetryAfter.wait(text, date: Self.date) == nil)
  }

  @Test(
    "when Retry-After is invalid, then it is ignored",
    arguments: [
      "", " ", "-1", "+5", "1.5", "1e3", "0x10", "NaN", "inf", "soon", "12 s", "5,5", "١٢", "1;2", "\u{0}",
      "Fri, 20 Nov 2026", "Fri, 32 Nov 2026 10:00:00 GMT", "Fri, 20 Foo 2026 10:00:00 GMT",
      "Fri, 20 Nov 2026 25:00:00 GMT", "Fri, 20 Nov 2026 10:00:00 CET", "2026-11-20T10:00:30Z",
      "Fri, 31 Feb 2026 10:00:00 GMT", "Friday, 20-Nov-xx 10:00:00 GMT", "Fri, 01 Jan 294248 10:00:00 GMT",
      "Fri, 31 Dec 999999 23:59:59 GMT", "a b c d e f", ", , , , , ,",
    ])
  func unusable(text: String) {
    #expect(RetryAfter.wait(text, date: Self.date) == nil)
  }

  @Test(
    "when Retry-After and the response's date lie more than 64 bits of microseconds apart, then the wait is an hour")
  func farApart() {
    let last = "Thu, 01 Jan 294246 00:00:00 GMT"
    #expect(RetryAfter.wait(last, date: "Sat, 01 Jan 0001 00:00:00 GMT") == ServerFailure.longestWait)
    #expect(RetryAfter.wait("Sat, 01 Jan 0001 00:00:00 GMT", date: last) == nil)
  }

  @Test(
    "when the response has no date of its own, then a date in Retry-After is ignored",
    arguments: [nil, "", "now", "Fri, 31 Dec 999999 23:59:59 GMT"])
  func noDate(date: String?) {
    #expect(RetryAfter.wait("Fri, 20 Nov 2026 10:00:30 GMT", date: date) == nil)
    #expect(RetryAfter.wait("30", date: date) == .seconds(30))
  }
}
