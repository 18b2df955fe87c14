import Foundation
import TestSupport
import Testing

@testable import coverage_probe

/// Whether ICMP pings are permitted.
struct EchoRightTests {
  @Test(
    "when ICMP pings are not permitted, then the note has the kernel's groups, and says whether drives are affected")
  func findings() {
    #expect(EchoRight.granted.finding(isNeeded: true).grade == .good)
    for isNeeded in [true, false] {
      let refused = EchoRight.refused(groups: "1 0").finding(isNeeded: isNeeded)
      #expect(refused.grade == .note && refused.subject == .host)
      #expect(refused.text.contains("net.ipv4.ping_group_range is 1 0"))
      #expect(refused.text.contains("drives are not affected") != isNeeded)
      #expect(refused.text.contains("pings.target") == isNeeded)
      #expect(refused.advice?.contains("ping_group_range=\"0 2147483647\"") == true)
    }
    let unknown = EchoRight.unknown(reason: "Too many open files").finding(isNeeded: false)
    #expect(unknown.grade == .note && unknown.text.hasSuffix("Too many open files"))
  }

  @Test("when a capability alone permits them, then that is a warning where drives need them: the service has none")
  func capability() {
    let right = EchoRight.byCapability(groups: "1 0")
    #expect(right.finding(isNeeded: false).grade == .good)
    let finding = right.finding(isNeeded: true)
    #expect(finding.grade == .warning && finding.text.contains("which the service has not"))
  }

  @Test("when the process has CAP_NET_RAW, then ICMP pings are permitted", .enabled(if: Surroundings.mayCapture))
  func privileged() {
    #expect(EchoRight.ofThisProcess.finding(isNeeded: false).grade == .good)
  }
}
