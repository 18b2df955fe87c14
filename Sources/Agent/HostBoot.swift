import Coverage
import DriveStore
import Foundation
import Logging
import Pinging

/// The boot of this host that this process lives in.
enum HostBoot {
  /// `nil` where the kernel does not tell.
  static let id: String? = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id")
    .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) }
}

extension DriveStore {
  /// Corrects the times of drives that were recorded in this boot before the clock was set, and says so.
  /// - Throws: GRDB's `DatabaseError`
  func settleClocks(now: WallTime, logger: Logger) async throws {
    guard let boot = HostBoot.id else { return }
    let settled = try await settleClocks(bootID: boot, sinceBoot: .nanoseconds(Int64(Pinger.now)), now: now)
    for drive in settled.corrected {
      logger.notice("drive \(drive) was recorded before the host's clock was set; its times are right now")
    }
    for drive in settled.lost {
      logger.warning("drive \(drive) was recorded with a clock that was never set: it is quarantined")
    }
  }
}
