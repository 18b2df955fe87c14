import Coverage
import Networking
import Pinging
import SystemServices

extension Setting {
  /// All keys, in the order of the documentation.
  static var all: [Setting] {
    general + location + pinging + links + submission + storage + service + speedTests + reports
  }

  /// After a restart: the store, the control server's client and the connection to gpsd live as long as the process.
  private static var general: [Setting] {
    [
      required(
        Words(
          key: "state-directory", type: "path", expects: "a path", reload: .restart,
          effect: "holds the store, the drive logs and the lock; made when missing"),
        \.stateDirectory, path
      ).withPath(),
      optional(
        Words(
          key: "control-server.url", type: "URL", range: "http, https",
          expects: "http://HOST/PATH or https://HOST/PATH", reload: .restart,
          effect:
            "base of the control server, e.g. `https://host/RMBTControlServer`; `submit` needs it, and `record` does without `pings.target.host`"
        ),
        \.controlServer.url, url),
      path(
        "control-server.ca-file", \.controlServer.caFile, .restart,
        "PEM certificates to trust instead of the system's"),
      duration(
        "control-server.request-timeout", \.controlServer.requestTimeout, 1...3600, .restart,
        "limit for one whole request"),
      required(
        Words(
          key: "gpsd.host", type: "text", expects: "a name or an address", reload: .restart,
          effect: "every address of a name is tried"),
        \.gpsd.host, word),
      number("gpsd.port", \.gpsd.port, 1...65_535, type: "port", .restart, "gpsd's TCP port"),
      optional(
        Words(
          key: "gpsd.device", type: "text", expects: "a device path as gpsd calls it", reload: .restart,
          effect:
            "the only receiver to use, as gpsd calls it; null: the first with a fix, another one when it is stale or "
            + "[clearly worse](accuracy.md#which-positions-count)"),
        \.gpsd.device, word),
      duration(
        "gpsd.stale-after", \.gpsd.staleAfter, 0.5...3600, .restart,
        "the position is lost after this time without a usable one: pings belong to no fence until it returns"),
    ]
  }

  /// Most of them are parameters of the fence algorithm, which each drive reads at its start. The two speeds are for the client
  /// of gpsd, which lives as long as the process.
  private static var location: [Setting] {
    [
      quantity(
        "location.accuracy-limit", \.location.accuracyLimit, "metres", upTo: 10_000, .nextDrive,
        "worst accuracy (68 % radius, [by these rules](accuracy.md)) that opens, extends or leaves a fence; inclusive"),
      quantity(
        "location.minimum-radius", \.location.minimumRadius, "metres", upTo: 10_000, .nextDrive,
        "least radius of a fence; the radius grows with poor accuracy (10 m + twice the accuracy) and with speed (the "
          + "distance of one second)"),
      speed(
        "location.maximum-speed", \.location.maximumSpeed, .restart,
        "a position that the device could not reach from the last one at this speed, their accuracies allowed for, is "
          + "refused and counted; the third consecutive one that agrees with the others is accepted; null: positions "
          + "may jump. No train is faster than the default"),
      speed(
        "location.speed-limit", \.location.speedLimit, .restart,
        "a reported speed above it counts as unknown, in the radius and everywhere else; null: every speed counts"),
      duration(
        "location.warning-after", \.location.warningAfter, 0...86_400, .nextDrive,
        "a missing position becomes a warning this long after the start"),
      duration(
        "location.give-up-after", \.location.giveUpAfter, 1...604_800, .nextDrive,
        "a drive that never had an accurate position ends after this time"),
    ]
  }

  /// Each drive reads them at its start.
  private static var pinging: [Setting] {
    [
      duration("pings.interval", \.pings.interval, 0.01...60, .nextDrive, "from ping to ping"),
      duration(
        "pings.timeout", \.pings.timeout, 0.01...60, .nextDrive, "a ping without an answer for this long is lost"),
      optional(
        Words(
          key: "pings.interface", type: "text", range: "1 to 15 bytes without `/`, `:` and white space",
          expects: "the name of an interface", reload: .nextDrive,
          effect:
            "pings leave by this interface or not at all; so do requests for tests, with a registration that one needs, because "
            + "both servers must see the same address; other requests to the control server take any route"),
        \.pings.interface, LinkSettings.interface),
      optional(
        Words(
          key: "pings.ip-version", type: "4, 6", expects: "4 or 6", reload: .nextDrive,
          effect:
            "IP version of the ping server's address and of the request for a test; null: as the control server says"),
        \.pings.family
      ) { Int($0).flatMap(IPVersion.init) },
    ] + target + [
      number(
        "recovery.failure-threshold", \.recovery.failureThreshold, 1...10_000, .nextDrive,
        "after this many pings in a row without an answer, another test is requested; the old one is used meanwhile"),
      duration(
        "recovery.backoff", \.recovery.backoff, 0.1...86_400, .nextDrive,
        "wait between two such requests: none before the first one, then doubled each time; an answered ping resets it"),
      duration(
        "recovery.backoff-max", \.recovery.backoffMax, 0.1...86_400, .nextDrive, "the longest such wait"),
      duration(
        "recovery.prepare-timeout", \.recovery.prepareTimeout, 0.1...3600, .nextDrive,
        "limit for a request for a test, except a drive's first"),
      duration(
        "recovery.activation-timeout", \.recovery.activationTimeout, 0.1...3600, .nextDrive,
        "limit for resolving the ping server's name"),
      duration(
        "recovery.retry-delay", \.recovery.retryDelay, 0.1...60, .nextDrive,
        "wait after a first failed request for a test; doubles up to a minute"),
    ]
  }

  /// The links of a drive, the sources of their kind and their radio technology, and the exclusion zones.
  private static var links: [Setting] {
    [
      source(
        "network.source", \.network, expects: "auto, fixed-cellular, fixed-wifi or file:PATH", .nextDrive,
        "`auto`: the link of the route to the ping server ([below](#which-link-is-cellular)); `fixed-cellular`: every link "
          + "of that route is a modem's, no route means no network; `fixed-wifi`; `file:PATH`: the file's last line, "
          + "`cellular`, `wifi` or `none`; a file without one of them is `none`, with a warning",
        shown: { $0 == .auto ? "auto" : "\($0)" }, PathSource.init),
      source(
        "radio.source", \.radio,
        expects: "none, auto, modem-manager, fixed:TECHNOLOGY (such as fixed:4G/LTE) or command:PATH", .nextDrive,
        "`none`; `modem-manager`: technology, signal and cell from ModemManager ([radio.md](radio.md)); `auto`: the same "
          + "where ModemManager runs, else none; `fixed:TECHNOLOGY`, e.g. `fixed:4G/LTE`; `command:PATH`: a program that "
          + "prints the technology, a line at each change, `none` for no service, or lines of JSON; it runs with the privileges that a drive keeps "
          + "([measuring.md](measuring.md)) and gains none by sudo",
        shown: { $0 == .none ? "none" : "\($0)" }, RadioSource.init),
      boolean(
        "radio.configure-modem", \.configuresModem, .nextDrive,
        "whether ModemManager may be asked to report the signal each second, and the cell; if false, they are known "
          + "only if another program has configured the modem, and from the list of cells, which is asked for all the same"
      ),
      list(
        Words(
          key: "links", type: "list", expects: LinkList.expectation, reload: .nextDrive,
          effect:
            "several modems side by side, each with its own pings, fences and tests, and one stream of positions: "
            + "`[{ name: A, interface: wwan0, radio: \"fixed:4G/LTE\", network: auto }, ...]`; `name`: 1 to 32 letters and digits of any script, "
            + "`-` and `_`, used as it is written; `radio` and `network` as above "
            + "(default `none` and `auto`); replaces `pings.interface`, `radio.source` and `network.source`"),
        \.links, LinkList.parse),
      list(
        Words(
          key: "privacy.exclusion-zones", type: "list", range: "radius up to 100 km",
          expects: ExclusionZoneList.expectation, reload: .restart,
          effect:
            "`[{ latitude: 48.2, longitude: 16.3, radius: 300 }, ...]`: positions inside, or perhaps inside by their "
            + "accuracy, are dropped first: no fence begins there, and no store, drive log, status or export shows them. Pings "
            + "go on, without a place"),
        \.exclusionZones, ExclusionZoneList.parse),
    ]
  }

  /// After a restart: the sender and the recovery at the start of the process read them once.
  private static var submission: [Setting] {
    [
      duration(
        "submission.max-age", \.submission.maxAge, 60...31_536_000, .restart,
        "unsent fences are deleted at this age if two clocks agree, except those of unfinished sessions"),
      duration(
        "submission.keep", \.submission.keep, 60...315_360_000, .restart,
        "fences that were sent, refused or touched by Wi-Fi stay this long, for `export`; a drive log too, and at least "
          + "until the last fence of its drive is deleted"),
      duration(
        "submission.legacy-threshold", \.submission.legacyThreshold, 0...31_536_000, .restart,
        "fences without a session (after damage) are sent when they are older than this"),
      duration(
        "submission.spread", \.submission.spread, 0...3600, .restart,
        "the first background request after a start or an outage waits for a random part of it"),
      duration(
        "submission.backoff", \.submission.backoff, 1...86_400, .restart,
        "after trouble with the network or the server, the next background try waits 1 s and a random part of this limit, "
          + "which doubles each time"),
      duration(
        "submission.backoff-max", \.submission.backoffMax, 1...86_400, .restart, "the longest such wait"),
      number(
        "submission.breaker.threshold", \.submission.breakerThreshold, 1...1000, .restart,
        "this many answers 429 in a row open the circuit breaker: no request leaves"),
      duration(
        "submission.breaker.backoff", \.submission.breakerBackoff, 1...86_400, .restart,
        "the breaker stays open this long before one trial; doubles with each trial that meets 429. `Retry-After` holds "
          + "every request too, up to 1 h"),
      duration(
        "submission.breaker.backoff-max", \.submission.breakerBackoffMax, 1...86_400, .restart,
        "the longest time it stays open"),
    ]
  }

  /// The quotas of the state directory, and the limits of a drive.
  private static var storage: [Setting] {
    [
      required(
        Words(
          key: "storage.max-size", type: "size", range: "16M to 1024G",
          expects: "a size such as 64M or 2G, from 16M to 1024G", reload: .restart,
          effect: "quota of the state directory, [in bytes](store.md#a-quota): `64M`, `2G`"),
        \.storage.maxSize, shown: SizeText.text, size),
      number(
        "storage.max-fences", \.storage.maxFences, 1000...100_000_000, .restart,
        "quota of the store in fences, sent or not"),
      duration(
        "drive.maximum-duration", \.drive.maximumDuration, 1...31_536_000, .nextDrive,
        "a drive ends after this time; a shorter limit of the server counts"),
      boolean("drive.log", \.drive.log, .nextDrive, "whether each drive writes a drive log"),
    ]
  }

  /// `agent.*`: the rules for recording apply at once; the others belong to parts that live as long as the process.
  private static var service: [Setting] {
    [
      choice(
        "agent.record", \.agent.record, .atOnce,
        "when the service records without a command: [docs/service.md](service.md)"),
      quantity(
        "agent.start-speed", \.agent.startSpeed, "metres a second", upTo: 1000, .atOnce,
        "`moving`: three positions in a row above it begin a drive"),
      duration(
        "agent.rest", \.agent.rest, 1...86_400, .atOnce,
        "`moving`: a drive ends after this time below `agent.start-speed`"),
      duration(
        "agent.resend-interval", \.agent.resendInterval, 10...604_800, .restart,
        "a pass that sends stored fences is tried this often, also during a drive"),
      optional(
        Words(
          key: "agent.socket", type: "path", expects: "a path of at most 107 bytes", reload: .restart,
          effect: "the socket for commands; null: `agent.sock` in the state directory"),
        \.agent.socket
      ) { text in path(text).flatMap { $0.utf8.count <= 107 ? $0 : nil } }.withPath(),
      optional(
        Words(
          key: "agent.socket-group", type: "text", expects: "the name of a group", reload: .restart,
          effect:
            "members of this group may ask for the [status](service.md#the-socket); null: only root and the service's user"
        ),
        \.agent.socketGroup, word),
      optional(
        Words(
          key: "agent.page", type: "address and port", expects: "an address with a port such as 127.0.0.1:8088",
          reload: .restart,
          effect: "where the [live page](live-page.md) is; it needs the token of `coverage-probe page`; null: nowhere"),
        \.agent.page, numericPlace),
      path(
        "agent.basemap", \.agent.basemap, .restart,
        "a PMTiles or MBTiles file whose tiles are the [ground of the live page](live-page.md#base-map); null: none"),
      choice(
        "agent.loop", \.agent.loop, .restart,
        "`with-drive`: a [loop of speed tests](loop.md) runs while the service records"),
    ]
  }

  private static var speedTests: [Setting] {
    [
      dataLimit("speedtest.data-limit.day", \.speedTest.dataLimitOfDay, "day"),
      dataLimit("speedtest.data-limit.month", \.speedTest.dataLimitOfMonth, "calendar month"),
      boolean(
        "speedtest.verify-certificate", \.speedTest.verifiesCertificate, .restart,
        "whether the measurement server's certificate must be valid for its name; the reference apps accept any"),
      boolean(
        "speedtest.qos", \.speedTest.qos, .restart,
        "whether the [QoS tests](speedtest.md) that the control server asks for follow each speed test"),
      choice(
        "speedtest.qos-tls", \.speedTest.qosTLS, .restart,
        "TLS to QoS servers, which the control server's answer does not mention: `auto`: TLS, or none with a server that does not "
          + "speak it; `always`; `never`"),
      choice(
        "speedtest.coverage-pings", \.speedTest.coveragePings, .restart,
        "coverage pings during a test: `pause`, so that no fence has delays under its load; `continue`: fences have them, and "
          + "the drive log marks them"),
      number("loop.count", \.loop.count, 1...500, .restart, "speed tests of a loop, failed and aborted ones included"),
      optional(
        Words(
          key: "loop.every", type: "duration", range: "5m to 1d",
          expects: "a duration such as 15m, from 5m to 1d", reload: .restart,
          effect: "a test is due this long after the start of the one before; null: time does not count"),
        \.loop.every, shown: { DurationText.text($0.inSeconds) }
      ) { text in DurationText.duration(text).flatMap { (300...86_400).contains($0.inSeconds) ? $0 : nil } },
      optional(
        Words(
          key: "loop.distance", type: "metres", range: "25 to 10000", expects: "metres, 25 to 10000", reload: .restart,
          effect: "a test is due this far from the start of the one before; null: distance does not count"),
        \.loop.distance
      ) { text in Double(text).flatMap { (25...10_000).contains($0) ? $0 : nil } },
      duration("loop.duration", \.loop.duration, 60...172_800, .restart, "the longest duration of a loop"),
      required(
        Words(
          key: "loop.after-restart", type: "resume, end", expects: "resume or end", reload: .restart,
          effect: "what a start does with a loop that is not over"),
        \.loop.resumes, shown: { $0 ? "resume" : "end" }
      ) { ["resume": true, "end": false][$0] },
      required(
        Words(
          key: "loop.links", type: "cellular, any", expects: "cellular or any", reload: .restart,
          effect:
            "the links on which a test of the loop starts: `cellular`, as `network.source` decides, so that no test is made on Wi-Fi; "
            + "`any`: each test has its link in exports and reports"),
        \.loop.allowsOtherLinks, shown: { $0 ? "any" : "cellular" }
      ) { ["cellular": false, "any": true][$0] },
      path(
        "loop.hook", \.loop.hook, .restart,
        "a program that runs when a test is due and cannot start; its argument is the reason ([loop.md](loop.md#notices))"
      ),
    ]
  }

  /// `report` reads them; the service does not.
  private static var reports: [Setting] {
    [
      duration(
        "report.least-difference.delay", \.report.leastDelay, 0...10, .atOnce,
        "a [report](report.md#comparison) calls no smaller difference of delays different"),
      points(
        "report.least-difference.loss", \.report.leastLoss,
        "the same of losses: 1 is the difference of 2 % and 3 %"),
      points(
        "report.least-difference.coverage", \.report.leastCoverage,
        "the same of the shares of the distance with coverage"
      ),
    ]
  }

  /// A difference of two percentages.
  private static func points(_ key: String, _ path: Field<Double>, _ effect: String) -> Setting {
    required(
      Words(
        key: key, type: "percentage points", range: "0 to 100", expects: "percentage points, 0 to 100",
        reload: .atOnce, effect: effect),
      path, shown: plain
    ) { text in Double(text).flatMap { (0...100).contains($0) ? $0 : nil } }
  }

  /// A limit for the traffic of speed tests in one period; `null`: no limit.
  private static func dataLimit(_ key: String, _ path: Field<Int64?>, _ period: String) -> Setting {
    optional(
      Words(
        key: key, type: "size", range: "1M to 1024G", expects: "a size such as 500M or 20G, from 1M to 1024G",
        reload: .restart,
        effect:
          "data that speed tests may use in a \(period) (UTC), both directions; the last test can exceed it; null: no limit"
      ),
      path, shown: SizeText.text
    ) { text in SizeText.bytes(text).flatMap { (1 << 20...1 << 40).contains($0) ? Int64($0) : nil } }
  }
}
