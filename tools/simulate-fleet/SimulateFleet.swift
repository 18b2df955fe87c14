import ArgumentParser
import Coverage
import Foundation

/// Simulates the load of a fleet of devices on a server that comes back after an outage.
@main
struct SimulateFleet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate-fleet",
    abstract:
      "Simulates a fleet after an outage: the sender's circuit breaker, back-off and spread on a virtual clock.",
    discussion: """
      The server takes --rate requests a second and answers 429 to what is above. Beside the sender, the same fleet is \
      simulated without the spread, and with a fixed retry of 5 s. Exit status 1 when the sender wastes more than \
      --limit-refusals 429 a device on average, or 99 % are not delivered within --limit-seconds.
      """)

  @Option(help: "Devices.") var devices = 10_000
  @Option(help: "Requests a second that the server takes.") var rate = 100
  @Option(help: "Requests that a delivery takes; a device that is registered and has its test needs one.")
  var requests = 1
  @Option(help: "Seconds over which first requests are spread.") var spread = 60.0
  @Option(help: "Seed of the chance.") var seed: UInt64 = 1
  @Option(help: "Most 429 a device, on average.") var limitRefusals = 2.0
  @Option(help: "Seconds until 99 % are to be delivered.") var limitSeconds = 260.0
  @Option(help: "Also draws the deliveries and the requests over time into this SVG file.") var svg: String?

  func validate() throws {
    guard devices > 0, devices <= 1_000_000, rate > 0, (1...10).contains(requests), (0...3600).contains(spread) else {
      throw ValidationError(
        "expected 1 to 1000000 devices, a rate above 0, 1 to 10 requests and a spread of 0 to 3600 s")
    }
  }

  func run() throws {
    let behaviours = [
      Behaviour(name: "sender", spread: spread), Behaviour(name: "sender without spread", spread: 0),
      Behaviour(name: "fixed retry of 5 s", spread: 0, fixedRetry: 5),
    ]
    print("\(devices) devices, \(rate) requests/s, \(requests) requests a delivery, seed \(seed)")
    print(Self.row("", "50 %", "99 %", "100 %", "429/device", "most", "peak/s"))
    var outcomes: [(Behaviour, Outcome)] = []
    for behaviour in behaviours {
      var chance = SplitMix64(seed: seed)
      let fleet = Fleet(devices: devices, rate: rate, requestsPerDelivery: requests, behaviour: behaviour)
      let outcome = fleet.run(&chance)
      outcomes.append((behaviour, outcome))
      print(
        Self.row(
          behaviour.name, Self.seconds(outcome.time(of: 0.5)), Self.seconds(outcome.time(of: 0.99)),
          Self.seconds(outcome.time(of: 1)), String(format: "%.2f", outcome.meanRefusals), "\(outcome.mostRefusals)",
          "\(outcome.peak)"))
    }
    if let svg { try Picture(outcomes, rate: rate).svg.write(toFile: svg, atomically: true, encoding: .utf8) }
    let sender = outcomes[0].1
    let isKind = sender.meanRefusals <= limitRefusals && sender.time(of: 0.99) ?? .infinity <= limitSeconds
    print(isKind ? "within the limits" : "beyond the limits")
    if !isKind { throw ExitCode(1) }
  }

  private static func row(_ name: String, _ cells: String...) -> String {
    name.padding(toLength: 24, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
  }

  private static func seconds(_ time: Double?) -> String { time.map { String(format: "%.1f s", $0) } ?? "never" }
}
