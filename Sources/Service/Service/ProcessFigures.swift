import Coverage
import Foundation

/// This process's resources (proc(5)), named as in Prometheus's client libraries.
struct ProcessFigures: Hashable, Sendable {
  /// User and system time of all threads, in seconds.
  let processorSeconds: Double
  /// Memory in RAM, in bytes.
  let residentBytes: Int64
  /// Address space, in bytes.
  let virtualBytes: Int64
  /// Open descriptors; `nil` when they cannot be listed.
  let descriptors: Int?

  /// The figures of this process; `nil` when the kernel does not show them.
  static var own: ProcessFigures? {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8) else { return nil }
    let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return ProcessFigures(
      stat: stat, ticksPerSecond: Double(sysconf(CInt(_SC_CLK_TCK))), pageBytes: Int64(sysconf(CInt(_SC_PAGESIZE))),
      descriptors: descriptors)
  }

  /// - Parameters:
  ///   - stat: The line of /proc/PID/stat.
  ///   - ticksPerSecond: The unit of its times; above 0.
  ///   - pageBytes: The unit of its resident memory.
  ///   - descriptors: From elsewhere.
  /// - Returns: `nil` for another text.
  init?(stat: String, ticksPerSecond: Double, pageBytes: Int64, descriptors: Int?) {
    // The name in the second field can have spaces and parentheses.
    guard let end = stat.lastIndex(of: ")"), ticksPerSecond > 0 else { return nil }
    let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // Counted from the state, which is field 3.
    func field(_ number: Int) -> Int64? { fields.indices.contains(number - 3) ? Int64(fields[number - 3]) : nil }
    guard let user = field(14), let system = field(15), let virtual = field(23), let pages = field(24)
    else { return nil }
    processorSeconds = (Double(user) + Double(system)) / ticksPerSecond
    (virtualBytes, residentBytes) = (virtual, pages.saturatingMultiplied(by: pageBytes))
    self.descriptors = descriptors
  }
}
