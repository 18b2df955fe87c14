import Store

/// The errors that end a command.
enum CommandError {
  /// Reason and remedy in one line for an operator, in words where the error is SQLite's.
  static func line(_ error: any Error) -> String { StoreError.line(error, subject: "cannot use the store: ") }
}
