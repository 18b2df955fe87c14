import Glibc
import NetworkPath
import Radio
import Settings

/// The interfaces, files and programs that the settings name on this host.
enum SourceExamination {
  static func findings(_ configuration: ProbeConfiguration) -> [Finding] {
    var findings: [Finding] = []
    for link in configuration.driveLinks {
      let place = link.name.map { "link \($0): " } ?? ""
      if let interface = link.interface { findings.append(self.interface(interface, place)) }
      if case .file(let path) = link.network { findings.append(file(path, place)) }
      if case .command(let path) = link.radio { findings.append(command(path, place)) }
    }
    if findings.isEmpty {
      findings.append(Finding(.good, .link, "the routing table chooses the interface of the pings"))
    }
    return findings
  }

  /// Whether packets can leave by the link's interface.
  static func isUsable(_ link: LinkSettings) -> Bool { link.interface.map { interface($0, "").grade == .good } ?? true }

  private static func interface(_ name: String, _ place: String) -> Finding {
    guard if_nametoindex(name) != 0 else {
      return Finding(
        .fault, .link, "\(place)there is no interface \(name): no ping leaves",
        advice: "`ip link` lists the interfaces; a modem's may appear once it is connected")
    }
    let isUp = flags(of: name).map { $0 & UInt32(IFF_UP) != 0 } ?? false
    guard isUp else {
      return Finding(
        .fault, .link, "\(place)\(name) is down: no ping leaves", advice: "ip link set \(name) up, or connect the modem"
      )
    }
    return Finding(.good, .link, "\(place)\(name) is up")
  }

  /// The kernel's flags of an interface, such as `IFF_UP`; `nil` when they cannot be read.
  private static func flags(of interface: String) -> UInt32? {
    var text = [UInt8](repeating: 0, count: 32)
    let descriptor = open("/sys/class/net/\(interface)/flags", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let count = read(descriptor, &text, text.count)
    guard count > 2 else { return nil }
    // The file has `0x` and hexadecimal digits.
    let digits = String(decoding: text[2..<count], as: UTF8.self).prefix { $0.isHexDigit }
    return UInt32(digits, radix: 16)
  }

  /// A file that cannot be read is a fault: its link counts as none, and pings stop.
  private static func file(_ path: String, _ place: String) -> Finding {
    guard access(path, R_OK) == 0 else {
      return Finding(
        .fault, .link, "\(place)network.source: \(path): \(String(cString: strerror(errno))): the link counts as none",
        advice: "write cellular, wifi or none into it, or use auto")
    }
    return Finding(.good, .link, "\(place)network.source: \(path) can be read")
  }

  /// A program that cannot be run is a warning only: the drive measures without a technology.
  private static func command(_ path: String, _ place: String) -> Finding {
    // A folder passes for a program by its mode.
    var isFolder: Bool { access(path + "/.", F_OK) == 0 }
    let trouble = access(path, X_OK) == 0 ? (isFolder ? "it is a folder" : nil) : String(cString: strerror(errno))
    if let trouble {
      return Finding(
        .warning, .link, "\(place)radio.source: \(path): \(trouble): the technology stays unknown",
        advice: "chmod +x, or the path of a program")
    }
    return Finding(.good, .link, "\(place)radio.source: \(path) can be run")
  }
}
