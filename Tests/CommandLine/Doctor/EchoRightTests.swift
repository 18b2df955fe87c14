import Foundation
import TestSupport
import Testing

@testable import coverage_probe

/// Whether ICMP pings are permitted.
struct EchoRightTests {
  @Test(
    "when ICMP pings are not permitted, then the finding is a note with the kernel's groups, since drives are not affected"
  )
  func findings() {
    #expect(EchoRight.granted.finding.grade == .good)
    let refused = EchoRight.refused(groups: "1 0").finding
    #expect(refused.grade == .note && refused.subject == .host)
    #expect(refused.text.contains("net.ipv4.ping_group_range is 1 0; drives are not affected"))
    #expect(refused.advice?.contains("ping_group_range") == true)
    let unknown = EchoRight.unknown(reason: "Too many open files").finding
    #expect(unknown.grade == .note && unknown.text.hasSuffix("Too many open files"))
  }

  @Test("when the process has CAP_NET_RAW, then ICMP pings are permitted", .enabled(if: Surroundings.mayCapture))
  func privileged() {
    #expect(EchoRight.ofThisProcess == .granted)
  }
}
