/// Searches for a sequence of inputs after which the circuit breaker and the reference disagree: all up to a depth, and many random ones.
@main
struct CheckBreaker {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    guard arguments.count == 3 else {
      print("usage: tools/check-breaker/run [DEPTH [STORIES [SEED]]]")
      return
    }
    let inputs = BreakerRig.Input.allCases.count
    var steps = 0
    if let story = BreakerRig().firstMismatch(depth: arguments[0], &steps) { return complain(story) }
    print("\(inputs) inputs, all interleavings to depth \(arguments[0]): \(steps) steps, no mismatch")

    var generator = SeededGenerator(seed: UInt64(arguments[2]))
    var reached: Set<Int> = []
    for _ in 0..<arguments[1] {
      if let story = BreakerRig.randomMismatch(&reached, &generator) { return complain(story) }
    }
    print("\(arguments[1]) random stories of 20 inputs, to step \(reached.max() ?? 0), no mismatch")
  }

  private static func complain(_ story: [BreakerRig.Input]) {
    print("MISMATCH after \(story)")
  }
}
