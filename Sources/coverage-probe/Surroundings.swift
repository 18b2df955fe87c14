import Foundation

/// Makes the state that a process inherits safe, before anything else happens.
enum Surroundings {
  static func prepare() {
    openStandardStreams()
    // libdispatch asks for a higher priority for some threads, which only root gets, and writes a line to the journal for each refusal. It
    // reads the variable before its first line.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    // A lost reader is an error of the write, and must not end a drive. A handler instead of SIG_IGN: child processes
    // get the default action again.
    signal(SIGPIPE) { _ in }
    // Swift's runtime would handle SIGQUIT as a crash and print a dump.
    signal(SIGQUIT, SIG_DFL)
  }

  /// Opens closed standard streams (`>&-`): the next file opened would get the free descriptor, and results would be
  /// written into the store.
  private static func openStandardStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      let null = open("/dev/null", O_RDWR)
      if null >= 0, null != descriptor {
        dup2(null, descriptor)
        close(null)
      }
    }
  }
}
