import ArgumentParser

/// The command-line options for speed tests.
struct MeasurementArguments: ParsableArguments {
  @Option(help: "HOST:PORT of the measurement server for speed tests; without it, requests for tests get an error.")
  var measurementServer: HostAndPort?
  @Option(
    help:
      "How a connection to the measurement server starts: RMBThttp (only for clients that know it), RMBT, RMBTws or RMBTudp."
  )
  var measurementType = MeasurementType.http
  @Flag(name: .customLong("measurement-tls"), help: "The measurement server expects TLS.")
  var measurementTLS = false
  @Option(help: "Secret of the measurement server, for the tokens of speed tests.")
  var measurementSecret = "demo-secret"
  @Option(help: "Seconds of the download, and of the upload, as clients get them.") var testDuration = 7
  @Option(help: "Connections of a speed test, unless the client asks for 1 to 9.") var testThreads = 3
  @Option(help: "Seconds for which clients wait before a speed test; its token is good from then on.") var testWait = 0
  @Option(help: "HOST:PORT of the QoS server; without it, requests for QoS tests get an error.")
  var qosServer: HostAndPort?
  @Option(help: "UDP port of the QoS server for calls: one that it has always open (--qos-udp-port there).")
  var qosCallPort = 5060
  @Option(help: "The first of the five ports that the tests of TCP, UDP and proxies use.")
  var qosFirstPort = 20_102
  @Option(help: "Resolver of DNS tests: an address, with :PORT for another port than 53 (--qos-dns-port there).")
  var qosResolver = "127.0.0.1"

  func validate() throws {
    guard (1...30).contains(testDuration) else { throw ValidationError("--test-duration is 1 to 30 seconds.") }
    guard (1...1000).contains(testThreads) else { throw ValidationError("--test-threads is 1 to 1000.") }
    guard (1...65_535).contains(qosCallPort) else { throw ValidationError("--qos-call-port is 1 to 65535.") }
    guard (1024...65_531).contains(qosFirstPort) else {
      throw ValidationError("--qos-first-port is 1024 to 65531.")
    }
    guard (0...3600).contains(testWait) else { throw ValidationError("--test-wait is 0 to 3600 seconds.") }
  }

  var qos: QoSPlaces? {
    qosServer.map {
      QoSPlaces(server: $0, callPort: qosCallPort, firstPort: qosFirstPort, resolver: qosResolver)
    }
  }

  var server: MeasurementServer? {
    measurementServer.map {
      MeasurementServer(
        address: $0, type: measurementType, usesTLS: measurementTLS, secret: measurementSecret,
        testDuration: testDuration, testThreads: testThreads, testWait: testWait)
    }
  }
}
