import Coverage
import Foundation
import Submission
import Testing

@testable import Service

/// The description of this host for the control server.
struct HostDescriptionTests {
  @Test("when this host is described, then no text is empty or has control characters")
  func texts() {
    let host = Device.thisHost
    for text in [host.model, host.device, host.osVersion, host.language, host.timezone, host.softwareVersion] {
      #expect(!text.isEmpty)
      #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "\(text)")
    }
    #expect(host.softwareVersion == Program.version && host.softwareVersionCode == Program.versionCode)
  }

  @Test("when os-release has PRETTY_NAME, then it is the system's version, without quotes")
  func distribution() throws {
    let release = try String(contentsOfFile: "/etc/os-release", encoding: .utf8)
    #expect(
      release.contains("PRETTY_NAME=\"\(Device.thisHost.osVersion)\"")
        || release.contains("PRETTY_NAME=\(Device.thisHost.osVersion)\n"))
  }

  @Test("when the time zone has a name, then Foundation knows it")
  func timezone() { #expect(TimeZone(identifier: Device.thisHost.timezone) != nil) }
}
