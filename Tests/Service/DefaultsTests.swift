import Coverage
import Positioning
import Settings
import Submission
import Testing

@testable import Service

/// Modules below Settings have defaults for their tests and tools; those of the configuration are the same.
struct DefaultsTests {
  @Test("when nothing is configured, then the sender has its own defaults")
  func sender() { #expect(ProbeConfiguration().sender == SenderSettings()) }

  @Test("when nothing is configured, then gpsd's address and the age of a position are those of the client")
  func receiver() {
    let (configured, own) = (ProbeConfiguration().receiver, GPSDConfiguration())
    #expect(configured.host == own.host && configured.port == own.port && configured.device == own.device)
    #expect(configured.staleAfter == own.staleAfter)
  }

  @Test(
    "when nothing is configured, then fences, the recovery of pings and the start of drives have their own defaults")
  func drive() {
    let configuration = ProbeConfiguration()
    #expect(configuration.parameters == Parameters())
    #expect(configuration.recordingRules == RecordingDecision.Rules())
  }
}
