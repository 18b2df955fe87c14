/// A report of logind about the host's sleep.
package enum SleepNews: Hashable, Sendable {
  /// The host sleeps as soon as the last owner releases the lock; without a lock, at once.
  case sleeping(lock: BusDescriptor?)
  /// The host is awake, or the connection to logind ended during the sleep.
  case awake
}
