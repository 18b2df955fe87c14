import ArgumentParser
import Coverage
import OrderedJSON
import Store

/// The part of tools/bench-store that must be Swift.
@main
struct BenchStoreFence: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-store-fence",
    abstract: "Times durable fences in a store, and the same rows in bare SQLite, in turn (see tools/bench-store).")

  @Option(help: "The number of fences.") var fences = 300
  @Argument(help: "A state directory that no other process uses.") var directory: String

  func validate() throws {
    guard (1...1_000_000).contains(fences) else { throw ValidationError("--fences takes 1 to 1000000.") }
  }

  func run() throws {
    let store = try DriveStore(directory: StateDirectory(path: directory), purpose: "bench-store-fence")
    var recorder = try DriveRecorder(store, started: WallTime(microseconds: 1_795_168_800_000_000), log: nil)
    let session = Session(number: 0, started: .start)
    try recorder.save(sessions: [session], fences: [], seen: .start)
    let bare = try BareSQLite(path: directory + "/bare.sqlite")
    var (inStore, twice, inBare): ([Int64], [Int64], [Int64]) = ([], [], [])
    for number in 0..<fences {
      let fence = try Self.fence(number)
      let seen = Self.time(number)
      inStore.append(try Self.nanoseconds { try recorder.save(sessions: [], fences: [fence], seen: seen) })
      inBare.append(try Self.nanoseconds { try bare.save(fence) })
      let next = try Self.fence(fences + number)
      twice.append(
        try Self.nanoseconds {
          try recorder.save(sessions: [session], fences: [], seen: seen)
          try recorder.save(sessions: [], fences: [next], seen: seen)
        })
    }
    print(
      JSON.object([
        "store": .array(inStore.map(JSON.integer)), "store, twice": .array(twice.map(JSON.integer)),
        "bare SQLite": .array(inBare.map(JSON.integer)),
      ]).text)
  }

  private static func time(_ seconds: Int) -> DriveTime { DriveTime(microseconds: Int64(seconds) * 1_000_000) }

  private static func nanoseconds(_ body: () throws -> Void) rethrows -> Int64 {
    let taken = try ContinuousClock().measure(body)
    return taken.inNanoseconds
  }

  private static func fence(_ number: Int) throws -> Fence {
    guard let centre = Coordinate(latitude: 48.2 + Double(number) / 10_000, longitude: 16.4) else {
      throw ValidationError("There are too many fences.")
    }
    return Fence(
      number: number, session: 0, entered: time(number), exited: time(number + 3),
      fix: Fix(coordinate: centre, accuracy: 4.5, altitude: 171.3, course: 87.1, speed: 13.4), centre: centre,
      radius: 15, technology: Technology("4G/LTE"), pings: 30, pingsAnswered: 30, rttSumNanoseconds: 936_000_000,
      figures: PingFigures(), isSubmittable: true)
  }
}
