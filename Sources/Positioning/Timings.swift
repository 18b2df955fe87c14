/// The timeouts and intervals of the client. Tests shorten them.
struct Timings: Hashable, Sendable {
  /// The time limit of the TCP connection, for all addresses of the host together.
  var connection: Duration = .seconds(5)
  /// The time limit for gpsd's greeting, its first line to each client. gpsd is silent while it opens a device for another client; 5.1 s
  /// have been measured. A dead connection looks the same, so further attempts wait no longer.
  var greeting: Duration = .seconds(10)
  /// The time limit for gpsd's echo of WATCH, when gpsd opens its devices. It doubles with each attempt that ends this way, up to
  /// ``longestPatience``, so that a slow gpsd gets enough time.
  var handshake: Duration = .seconds(8)
  /// After this time without a report, the client sends gpsd a question. It doubles with each unanswered question, up to
  /// ``longestSilence``.
  var silence: Duration = .seconds(5)
  /// After this time without a report since the question, the connection counts as dead.
  var answer: Duration = .seconds(2)
  /// The longest ``silence``. With ``answer`` it is the time after which a dead connection is left, however often it was dead before.
  var longestSilence: Duration = .seconds(8)
  /// The longest ``handshake``.
  var longestPatience: Duration = .seconds(30)
  /// The pause before the second attempt; it doubles with each further one. An attempt that waited in vain for an answer needs no pause.
  var firstRetry: Duration = .seconds(1)
  /// The longest pause between attempts.
  var longestRetry: Duration = .seconds(10)
  /// The longest pause between attempts when gpsd is on this host, where attempts disturb no other host.
  var longestLocalRetry: Duration = .seconds(5)
  /// The interval at which changed counters are delivered.
  var account: Duration = .seconds(5)
  /// The interval at which an unchanged state is logged.
  var reminder: Duration = .seconds(60)

  init() {}
}
