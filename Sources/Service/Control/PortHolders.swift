import Coverage
import Foundation
import OrderedJSON

/// Which processes have the serial ports of receivers open: a port that two programs read gives each a part of the lines.
public struct PortHolders: Hashable, Sendable {
  /// A process that has a port open.
  struct Holder: Hashable, Sendable {
    let port: String
    let process: Int32
    /// The name of its program, as the kernel has it.
    let program: String
  }

  /// The holders, by port and process.
  private(set) var holders: [Holder] = []
  /// Processes whose open files this user may not see.
  private(set) var hidden = 0

  /// Looks through the processes of this host.
  /// - Parameters:
  ///   - ports: The paths of ports, those of links too; others than character devices are left out.
  ///   - processes: Where the kernel shows processes (proc(5)).
  public init(of ports: [String], processes: String = "/proc") {
    // By real path, which is also the target of a link in /proc/PID/fd. A device with two names counts under the first one.
    let devices = Dictionary(ports.compactMap { port in Self.real(port).map { ($0, port) } }) { first, _ in first }
    guard !devices.isEmpty else { return }
    // A process that ended meanwhile holds no port.
    for name in (try? FileManager.default.contentsOfDirectory(atPath: processes)) ?? [] {
      guard let process = Int32(name) else { continue }
      let folder = "\(processes)/\(name)/fd"
      guard let files = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
        // The process is still there, so this user may not list its descriptors.
        if access("\(processes)/\(name)", F_OK) == 0 { hidden += 1 }
        continue
      }
      let open = Set(files.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") })
      let program = (try? String(contentsOfFile: "\(processes)/\(name)/comm", encoding: .utf8)) ?? "?"
      for (device, port) in devices where open.contains(device) {
        holders.append(Holder(port: port, process: process, program: ForeignText.clean(program.trimmed)))
      }
    }
    holders.sort { ($0.port, $0.process) < ($1.port, $1.process) }
  }

  /// The ports that receivers of this host can have, with those that gpsd names.
  public static func ports(with named: [String] = []) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev")) ?? []
    let usual = names.filter { name in ["gps", "pps", "ttyACM", "ttyUSB", "ttyAMA"].contains { name.hasPrefix($0) } }
    return Array(Set(usual.map { "/dev/" + $0 } + named)).sorted()
  }

  /// A line a port, e.g. `/dev/ttyACM0 is open in gpsd (432) and ModemManager (517)`.
  public var lines: [String] {
    let byPort = Dictionary(grouping: holders, by: \.port).sorted { $0.key < $1.key }
    let held = byPort.map { port, holders in
      "\(ForeignText.clean(port)) is open in \(holders.map { "\($0.program) (\($0.process))" }.joined(separator: " and "))"
    }
    guard hidden > 0 else { return held }
    return held + ["\(counted(hidden, "process", "processes")) of other users cannot be seen: ask as root"]
  }

  /// The holders, and how many processes could not be seen.
  var json: JSON {
    .object([
      "holders": .array(
        holders.map { holder in
          .object([
            "port": .string(ForeignText.clean(holder.port)), "process": .integer(Int64(holder.process)),
            "program": .string(holder.program),
          ])
        }),
      "hidden_processes": .integer(Int64(hidden)),
    ])
  }

  /// - Returns: The real path; `nil` unless `port` leads to a character device.
  private static func real(_ port: String) -> String? {
    var status = stat()
    guard stat(port, &status) == 0, status.st_mode & S_IFMT == S_IFCHR, let path = realpath(port, nil) else {
      return nil
    }
    defer { free(path) }
    return String(cString: path)
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
