import Foundation

/// What a program gets from the one that starts it, made safe before anything else happens.
enum Surroundings {
  static func prepare() {
    openStandardStreams()
    // A reader that has gone is an error of the write, and no end of a drive. A handler and not SIG_IGN: programs that this one
    // starts begin with the default again.
    signal(SIGPIPE) { _ in }
    // Swift's runtime takes it for a crash and prints a dump.
    signal(SIGQUIT, SIG_DFL)
  }

  /// A stream that was closed (`>&-`) would be the next file that is opened: results would be written into the store.
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
