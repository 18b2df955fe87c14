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

extension posix_spawn_file_actions_t {
  /// Closes all descriptors but the three standard ones; call it last. NIO accepts connections without `SOCK_CLOEXEC`: a program that
  /// inherits one keeps it open when the server has closed it.
  mutating func closeOthers() throws {
    typealias CloseFrom = @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
    // Of glibc, which Swift does not import.
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { throw POSIXError(.ENOSYS) }
    let code = unsafeBitCast(symbol, to: CloseFrom.self)(&self, STDERR_FILENO + 1)
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOMEM) }
  }
}
