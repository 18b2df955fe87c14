import Foundation

extension posix_spawnattr_t {
  /// Starts a program with no signal blocked, and with SIGINT, SIGQUIT and SIGHUP not ignored: shells ignore the first two in background
  /// programs, such as tests, nohup ignores the third, and children inherit that. Needs ``signalFlags``.
  mutating func clearSignals() {
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&self, &none)
    var interrupts = none
    sigaddset(&interrupts, SIGINT)
    sigaddset(&interrupts, SIGQUIT)
    sigaddset(&interrupts, SIGHUP)
    posix_spawnattr_setsigdefault(&self, &interrupts)
  }

  static let signalFlags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
}
