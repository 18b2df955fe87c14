import Coverage
import Store
import TestSupport

@testable import Export

extension StoredFence {
  /// `fence` in the sample drive.
  static func of(
    _ fence: Fence, drive: Int64 = 1, session: Int64 = 1, link: String? = nil, started: WallTime = .sampleStart,
    equipment: ModemEquipment? = nil
  ) -> StoredFence {
    StoredFence(
      id: Int64(fence.number),
      session: StoredSession(
        id: session, drive: drive, driveStarted: started,
        session: Session(number: 0, started: .start, equipment: equipment), link: link), fence: fence)
  }
}

/// Fences of random kinds: neighbours, gaps and jumps, several sessions of one drive, every reception.
struct RandomRoad {
  var random: SeededGenerator

  mutating func fences(_ count: Int) -> [StoredFence] {
    var (entered, session, number): (Int64, Int64, Int) = (10_000_000, 1, 0)
    return (0..<count).map { index in
      if Int.random(in: 0..<12, using: &random) == 0 { session += 1 }
      if Int.random(in: 0..<20, using: &random) == 0 { number += 1 }
      if Int.random(in: 0..<6, using: &random) == 0 { entered += Int64.random(in: 1...40_000_000, using: &random) }
      let pings = [0, 1, 10, 40].randomElement(using: &random) ?? 0
      let answered = [0, pings / 2, pings].randomElement(using: &random) ?? 0
      let lasted = Int64.random(in: 0...8_000_000, using: &random)
      defer { (entered, number) = (entered + lasted, number + 1) }
      return .of(
        .sample(
          number: number, session: Int(session), entered: Double(entered) / 1e6, lasted: Double(lasted) / 1e6,
          latitude: 48 + Double(index) * 0.0007,
          radius: [15.0, 20, 40].randomElement(using: &random) ?? 20,
          technology: ["2G/EDGE", "3G/HSPA+", "4G/LTE", "5G/NR", "5G/NRNSA", nil].randomElement(using: &random) ?? nil,
          pings: pings, answered: answered, rttSumNanoseconds: Int64(answered) * 31_000_000,
          isSubmittable: Int.random(in: 0..<9, using: &random) > 0),
        session: session)
    }
  }
}
