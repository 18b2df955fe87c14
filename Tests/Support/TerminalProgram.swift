import Foundation

/// A program on its own terminal, with the screen of the terminal.
public final class TerminalProgram: @unchecked Sendable {
  private let master: Int32
  private let pid: Int32
  private let lock = NSLock()
  private var shown: TerminalScreen
  private var status: Int32?

  /// - Parameter terminal: The value of `TERM`.
  public init(
    _ name: String, _ arguments: [String], columns: Int = 80, rows: Int = 24, terminal: String = "xterm",
    environment: [String: String] = [:]
  ) throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    var path = [CChar](repeating: 0, count: 128)
    guard openpty(&master, &slave, &path, nil, &size) == 0 else { throw POSIXError(.ENXIO) }
    defer { close(slave) }
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    (self.master, shown) = (master, TerminalScreen(columns: columns, rows: rows))
    let surroundings = ProcessInfo.processInfo.environment.merging(["TERM": terminal]) { $1 }.merging(environment) {
      $1
    }
    pid = try Self.spawn(
      Surroundings.product(name).path, arguments, surroundings.map { "\($0.key)=\($0.value)" },
      terminal: String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    Thread.detachNewThread { [self] in read() }
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String], terminal: String
  ) throws -> Int32 {
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    // Opened by a process without a terminal, it becomes the session's terminal: the kernel then reports changes of its size.
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&files, descriptor, terminal, O_RDWR, 0)
    }
    try files.closeOthers()
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    attributes.clearSignals()
    // POSIX_SPAWN_SETSID of glibc, which Swift does not import.
    posix_spawnattr_setflags(&attributes, posix_spawnattr_t.signalFlags | 0x80)
    var pid: Int32 = 0
    let (argv, envp) = (([program] + arguments).map { strdup($0) }, environment.map { strdup($0) })
    defer { (argv + envp).forEach { free($0) } }
    let code = posix_spawn(&pid, program, &files, &attributes, argv + [nil], envp + [nil])
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
    return pid
  }

  private func read() {
    var bytes = [UInt8](repeating: 0, count: 4096)
    var incomplete: [UInt8] = []
    while true {
      let count = Foundation.read(master, &bytes, bytes.count)
      guard count > 0 else { return }
      incomplete += bytes[..<count]
      // A read can end within a character or a sequence. Feed only complete ones.
      guard let text = String(validating: incomplete, as: UTF8.self), !text.hasSuffix("\r"),
        text.suffix(8).firstMatch(of: /\u{1B}(\[[0-9;]*)?$/) == nil
      else { continue }
      incomplete = []
      lock.withLock { shown.feed(text) }
    }
  }

  /// The present screen.
  public var screen: TerminalScreen { lock.withLock { shown } }

  /// Changes the terminal's size. The screen is cleared, because terminals differ in how they rewrap lines.
  public func resize(columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    lock.withLock { shown = TerminalScreen(columns: columns, rows: rows) }
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  public func signal(_ number: Int32) { lock.withLock { if collectStatus() == nil { kill(pid, number) } } }

  /// Call with the lock held.
  private func collectStatus() -> Int32? {
    var raw: Int32 = 0
    if status == nil, waitpid(pid, &raw, WNOHANG) == pid {
      status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : -(raw & 0x7F)
    }
    return status
  }

  public func exitStatus() async throws -> Int32 {
    try await eventually("the program on the terminal ends") { lock.withLock { collectStatus() } }
  }

  deinit {
    if collectStatus() == nil {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    close(master)
  }
}
