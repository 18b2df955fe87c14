import Testing

@testable import Coverage

struct MedianTests {
  @Test(
    "when there are values, then the median is the middle one, or the mean of the two in the middle",
    arguments: [
      ([], nil), ([7], 7), ([9, 1, 5], 5), ([4, 1, 3, 2], 2), ([-4, -1], -3), ([.max - 1, .max], .max - 1),
    ] as [([Int64], Int64?)])
  func median(values: [Int64], median: Int64?) { #expect(values.median == median) }
}
