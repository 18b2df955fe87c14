import Coverage
import TestSupport
import Testing

@testable import Export

struct MapCircleTests {
  private func circle(_ fence: Fence, origin: FenceRecord.Origin = .replay) throws -> String {
    var box = BoundingBox()
    box.add(fence.centre)
    let projection = try #require(Projection(box: box, largestRadius: fence.radius))
    let record = FenceRecord(fence: fence, session: Session(number: 0, testUUID: nil, started: .start), origin: origin)
    return MapCircle.html(record, at: projection.point(fence.centre))
  }

  @Test("when a person points at a fence, then it tells its number, time, technology, delay and loss")
  func tooltip() throws {
    let fence = Fence.sample(number: 6, pings: 40, answered: 39, rttSumNanoseconds: 39 * 31_670_000)
    let circle = try circle(fence, origin: .store(driveStarted: .sampleStart, session: 1))
    #expect(
      circle.contains(
        """
        <title>fence 7, radius 20.0 m
        2026-11-20T10:00:10.000Z
        4.0 s
        4G/LTE
        mean 31.7 ms
        1 of 40 pings lost (2.5 %)</title>
        """), "\(circle)")
  }

  @Test("when a fence is open and has no answer, then it has no duration, and says that nothing answered")
  func openFence() throws {
    let circle = try circle(.sample(lasted: nil, technology: nil, pings: 1, answered: 0, rttSumNanoseconds: 0))
    #expect(circle.contains("no answer\n1 of 1 ping lost (100.0 %)</title>"), "\(circle)")
    #expect(!circle.contains(" s\n"))
    #expect(circle.contains("class=\"t-none d-none l-all\""))
  }

  @Test("when Wi-Fi touched a fence, then its circle is another one, and the reason is there")
  func wifi() throws {
    let circle = try circle(.sample(isSubmittable: false))
    #expect(circle.contains(" wifi\""))
    #expect(circle.contains("touched by Wi-Fi: not submitted</title>"))
  }

  @Test(
    "when a share is written, then it is rounded to a tenth of a percent",
    arguments: [
      (0, 7, "0.0 %"), (1, 3, "33.3 %"), (2, 3, "66.7 %"), (1, 2000, "0.1 %"), (1, 2001, "0.0 %"), (5, 5, "100.0 %"),
    ])
  func percent(part: Int, whole: Int, text: String) {
    #expect(MapCircle.percent(part, of: whole) == text)
  }
}
