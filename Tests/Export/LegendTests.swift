import Coverage
import Foundation
import TestSupport
import Testing

@testable import Export

struct LegendTests {
  @Test(
    "when a fence has a technology, then it has the class of its generation",
    arguments: [
      ("2G/EDGE", "#D55E00"), ("3G/HSPA+", "#EFFF00"), ("4G/LTE", "#00DEFF"), ("5G/NRNSA", "#0091FF"),
      ("5G/NR", "#5E00FF"), (nil, "#5A5A5A"), ("6G", "#5A5A5A"), ("NONE", "#5A5A5A"),
    ])
  func technology(name: String?, colour: String) {
    #expect(Legend.entry(of: .sample(technology: name)).colour == colour)
  }

  @Test(
    "when no ping was answered, then the fence is grey; without pings, and beside Wi-Fi time, it is not measured",
    arguments: [
      (9, 0, true, "t-none"), (0, 0, true, "t-unmeasured"), (9, 0, false, "t-unmeasured"),
      (0, 0, false, "t-unmeasured"), (9, 1, false, "t-4g"),
    ])
  func withoutAnswer(pings: Int, answered: Int, isSubmittable: Bool, name: String) {
    let fence = Fence.sample(pings: pings, answered: answered, rttSumNanoseconds: 0, isSubmittable: isSubmittable)
    #expect(Legend.entry(of: fence).name == name)
    #expect(fence.isMeasured == (name != "t-unmeasured"))
  }

  @Test("when styles are named after the entries, then no two share a name, a label or a colour")
  func distinct() {
    let entries = Legend.classes
    #expect(Set(entries.map(\.name)).count == entries.count && Set(entries.map(\.label)).count == entries.count)
    #expect(Set(entries.map(\.colour)).count == entries.count)
    #expect(entries.allSatisfy { $0.colour.wholeMatch(of: /#[0-9A-F]{6}/) != nil })
    #expect(entries.filter(\.isHollow).map(\.name) == ["t-unmeasured"], "the page takes the hollow one for it")
  }

  /// Severity 1.0 of G. M. Machado et al., A Physiologically-based Model for Simulation of Color Vision Deficiency (2009).
  private static let eyes: [String: [[Double]]] = [
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanope": [
      [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranope": [
      [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ],
    "tritanope": [
      [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ],
  ]

  /// In CIELAB, by way of linear sRGB as these eyes see it.
  private func lab(_ colour: String, _ eyes: [[Double]]) throws -> [Double] {
    let number = try #require(Int(colour.dropFirst(), radix: 16))
    let linear = [number >> 16, number >> 8 & 255, number & 255].map { part in
      let share = Double(part) / 255
      return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
    }
    func product(_ matrix: [[Double]], _ vector: [Double]) -> [Double] {
      matrix.map { row in zip(row, vector).reduce(0) { $0 + $1.0 * $1.1 } }
    }
    let seen = product(eyes, linear).map { min(1, max(0, $0)) }
    let white = [0.95047, 1, 1.08883]
    let xyz = product(
      [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]], seen)
    let f = zip(xyz, white).map { $0 / $1 > 216.0 / 24389 ? cbrt($0 / $1) : (24389.0 / 27 * $0 / $1 + 16) / 116 }
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]
  }

  @Test("when eyes lack a kind of cone, then they still tell all filled classes apart", arguments: eyes.keys.sorted())
  func colourBlind(kind: String) throws {
    let eyes = try #require(Self.eyes[kind])
    let seen = try Legend.classes.filter { !$0.isHollow }.map { ($0.label, try lab($0.colour, eyes)) }
    for (place, one) in seen.enumerated() {
      for other in seen[..<place] {
        let difference = zip(one.1, other.1).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
        #expect(difference > 20, "\(one.0) and \(other.0): \(difference)")
      }
    }
  }
}
