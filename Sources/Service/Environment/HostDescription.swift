import Coverage
import Foundation
import Submission

extension Device {
  /// This host, as far as its files describe it.
  public static var thisHost: Device {
    let locale = HostLocale.thisHost
    return Device(
      model: model, device: ProcessInfo.processInfo.hostName, osVersion: osVersion,
      language: locale.language, timezone: locale.timezone,
      softwareVersion: Program.version, softwareVersionCode: Program.versionCode, softwareRevision: Program.revision)
  }

  /// The board's name from the device tree (ARM boards) or from DMI (PCs).
  private static var model: String {
    let files = ["/sys/firmware/devicetree/base/model", "/sys/class/dmi/id/product_name"]
    let names = files.compactMap(firstLine).filter { !$0.isEmpty && $0.lowercased() != "unknown" }
    return names.first ?? "Linux"
  }

  /// The distribution in words, from os-release(5).
  private static var osVersion: String {
    let release = FileManager.default.contents(atPath: "/etc/os-release").map { String(decoding: $0, as: UTF8.self) }
    let name = release?.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    return name.map { $0.dropFirst(12).trimmingCharacters(in: CharacterSet(charactersIn: "\"")) } ?? "Linux"
  }

  /// The text without white space and control characters at its ends: a value of the device tree ends with NUL.
  private static func firstLine(of file: String) -> String? {
    FileManager.default.contents(atPath: file).map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines.union(.controlCharacters))
    }
  }
}
