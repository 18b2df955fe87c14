import Coverage

/// The sessions of drives to `pings.target`, in words.
enum KeptSessions {
  /// - Parameter count: At least 1.
  static func words(_ count: Int) -> String {
    "\(counted(count, "session")) kept here and never submitted (pings.target)"
  }
}
