import Foundation
import Testing

@testable import Service

/// The language and the time zone of hosts.
struct HostLocaleTests {
  /// A host with Debian's time zones.
  private func host(
    _ environment: [String: String] = [:], files: [String: String] = [:], links: [String: String] = [:]
  ) -> HostLocale {
    HostLocale(
      environment: environment,
      read: { path in
        files[path] ?? (path.hasPrefix("/usr/share/zoneinfo/") ? HostLocale.thisHost.read(path) : nil)
      }, linkTarget: { links[$0] })
  }

  @Test(
    "when the environment names a locale, then its language is sent; the first of the three variables counts",
    arguments: [
      (["LANG": "de_AT.UTF-8"], "de"), (["LANG": "de_AT", "LC_ALL": "fr"], "fr"),
      (["LANG": "de_AT", "LC_MESSAGES": "nds_DE@euro"], "nds"), (["LC_ALL": "", "LANG": "sl_SI"], "sl"),
      (["LANG": "C"], "en"), (["LANG": "C.UTF-8"], "en"), (["LANG": "POSIX"], "en"), ([:], "en"), (["LANG": "x"], "en"),
    ] as [([String: String], String)])
  func languages(environment: [String: String], language: String) {
    #expect(host(environment).language == language)
  }

  @Test("when the environment names no locale, then the host's file does")
  func hostsLanguage() {
    #expect(host(files: ["/etc/default/locale": "# x\nLANG=\"de_AT.UTF-8\"\nLC_ALL=\n"]).language == "de")
    #expect(host(["LANG": "C"], files: ["/etc/default/locale": "LANG=de_AT"]).language == "en")
  }

  @Test(
    "when TZ names a zone, then it is sent, an old name by its current one; other text is UTC",
    arguments: [
      ("Europe/Vienna", "Europe/Vienna"), (":Europe/Vienna", "Europe/Vienna"),
      ("/usr/share/zoneinfo/Europe/Vienna", "Europe/Vienna"),
      (":/usr/share/zoneinfo/right/Europe/Vienna", "Europe/Vienna"),
      ("US/Pacific", "America/Los_Angeles"), ("Asia/Calcutta", "Asia/Kolkata"), ("Europe/Oslo", "Europe/Oslo"),
      ("Europe/Kyiv", "Europe/Kyiv"), ("UTC", "UTC"), ("Etc/GMT-2", "Etc/GMT-2"),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "Etc/UTC"),
      ("Nowhere/Land", "Etc/UTC"), (":/etc/localtime", "Etc/UTC"), ("../../etc/passwd", "Etc/UTC"),
    ])
  func zones(variable: String, zone: String) {
    #expect(host(["TZ": variable], links: ["/etc/localtime": "/usr/share/zoneinfo/Asia/Tokyo"]).timezone == zone)
  }

  @Test("when TZ is not set, then the zone is that of the host's link, else of its file")
  func hostsZone() {
    let file = ["/etc/timezone": "Europe/Vienna\n"]
    #expect(
      host(["TZ": ""], files: file, links: ["/etc/localtime": "../usr/share/zoneinfo/Asia/Tokyo"]).timezone
        == "Asia/Tokyo")
    #expect(host(files: file).timezone == "Europe/Vienna")
    #expect(host().timezone == "Etc/UTC")
  }
}
