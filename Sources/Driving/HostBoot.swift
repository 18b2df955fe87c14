import Foundation

/// The boot of this host that this process lives in.
public enum HostBoot {
  /// Another one after each boot; empty where the kernel does not tell.
  public static let id =
    FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
    .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
}
