import Testing

@testable import SpeedTest

@Suite struct RoundTripsTests {
  private func trips(server: [Int64], least: Int = 10) -> RoundTrips {
    var trips = RoundTrips(least: least)
    for (index, value) in server.enumerated() {
      trips.append(.init(client: value + 1000, server: value, offset: Int64(index)))
    }
    return trips
  }

  @Test(
    "Edge 23: when pings were made, then the median is that of the server's values",
    arguments: [([7], 7), ([9, 1, 5], 5), ([4, 1, 3, 2], 2), ([10, 20], 15), ([1, 2, 3, 4, 100], 3)]
      as [([Int64], Int64)])
  func median(values: [Int64], expected: Int64) {
    #expect(trips(server: values).median == expected)
  }

  @Test("When no ping was made, then there are no figures")
  func none() { #expect(trips(server: []).median == nil) }

  @Test("When ten pings and a second are not both reached, then pings go on, up to 200")
  func enough() {
    let ten = trips(server: Array(repeating: 5, count: 10))
    #expect(!ten.isEnough(elapsed: 999_999_999))
    #expect(ten.isEnough(elapsed: 1_000_000_000))
    #expect(!trips(server: Array(repeating: 5, count: 9)).isEnough(elapsed: 5_000_000_000))
    #expect(!trips(server: Array(repeating: 5, count: 199)).isEnough(elapsed: 1))
    #expect(trips(server: Array(repeating: 5, count: 200)).isEnough(elapsed: 1))
  }

  @Test("When the control server asks for a number out of range, then it is clamped to 1 to 200")
  func clamped() {
    #expect(trips(server: [5], least: -3).isEnough(elapsed: 1_000_000_000))
    #expect(trips(server: Array(repeating: 5, count: 200), least: 9999).isEnough(elapsed: 1))
  }
}
