import Coverage
import Foundation
import Store
import TestSupport

@testable import Export

extension FenceRecord {
  enum Origin {
    case replay
    case store(driveStarted: WallTime, session: Int64)
  }

  /// - Parameter id: Of a stored fence.
  init(
    id: Int64? = nil, fence: Fence, session: Session, origin: Origin, link: String? = nil, submitted: WallTime? = nil
  ) {
    switch origin {
    case .replay: self.init(replayed: fence, session: session, link: link)
    case .store(let driveStarted, let number):
      let stored = StoredSession(id: number, drive: 2, driveStarted: driveStarted, session: session, link: link)
      self.init(
        StoredFence(id: id ?? Int64(fence.number), session: stored, fence: fence, submitted: submitted))
    }
  }

  /// A fence of the store with every value.
  static func whole(
    id: Int64 = 7, number: Int = 0, session: Int64 = 3, latitude: Double = 48.2082, longitude: Double = 16.3738,
    link: String? = "A", submitted: WallTime? = .sampleStart.later(by: .seconds(3600))
  ) -> FenceRecord {
    var figures = PingFigures()
    (figures.late, figures.duplicates) = (2, 1)
    figures.roundTrip = .init(minimum: 9_000_000, median: 10_500_000, percentile95: 30_000_000, maximum: 31_000_001)
    (figures.meanVariation, figures.kernelMean) = (1_250_000, 12_000_000)
    figures.delays = DelayBins("551=20 702=19") ?? DelayBins()
    var radio = FenceRadio.sample
    radio.cell?.kind = .lte
    var modem = ModemReading.sample
    modem.cell?.kind = .lte
    modem.neighbours[1].cell.kind = .lte
    modem.secondaries.append(MeasuredCell(radio.cell ?? RadioCell()))
    radio.environment = RadioEnvironment(modem)
    radio.levels = SignalQuantity.allCases.map { quantity in
      .init(quantity: quantity, minimum: -19.5, median: -15, maximum: -12.5)
    }
    let stored = StoredSession(
      id: session, drive: 2, driveStarted: .sampleStart,
      session: Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16)), link: link,
      target: "icmp 192.0.2.1", store: "f81d4fae-7dec-41d0-a765-00a0c91e6bf6", clock: "gnss")
    let fence = Fence.sample(
      number: number, latitude: latitude, longitude: longitude, figures: figures, radio: radio)
    var record = FenceRecord(StoredFence(id: id, session: stored, fence: fence, submitted: submitted))
    record.distance = 23.5
    return record
  }

  /// A fence of the store with few values.
  static func bare(
    id: Int64 = 8, session: Int64 = 3, latitude: Double = 48.2, longitude: Double = 16.3, radius: Double = 20
  ) -> FenceRecord {
    let place = Coordinate(latitude: latitude, longitude: longitude)
    return FenceRecord(
      id: id,
      fence: .sample(
        latitude: latitude, longitude: longitude, fix: Fix(coordinate: place), radius: radius, technology: nil,
        pings: 0, answered: 0, rttSumNanoseconds: 0),
      session: Session(number: 0, started: .start), origin: .store(driveStarted: .sampleStart, session: session))
  }
}

extension TrackSegment {
  /// Positions a second apart, northwards.
  static func sample(session: Int64 = 3, link: String? = nil, positions: Int = 3) -> TrackSegment {
    TrackSegment(
      session: session, link: link,
      points: (0..<positions).compactMap { number in
        let place = Coordinate(latitude: 48.2 + Double(number) / 1000, longitude: 16.3)
        return TrackPoint(
          time: .sampleStart.later(by: .seconds(number)),
          fix: Fix(coordinate: place, accuracy: 4.5, altitude: 171.3, course: 0.5, speed: 13.4))
      })
  }
}

extension ExportFormat {
  /// The whole output.
  func bytes(
    _ records: [FenceRecord], tracks: [TrackSegment] = [], shape: FenceShape = .point
  ) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try export(records, tracks: tracks, shape: shape) { bytes += $0 }
    return bytes
  }

  /// The whole output, of a format of text.
  func text(_ records: [FenceRecord], tracks: [TrackSegment] = [], shape: FenceShape = .point) throws -> String {
    String(decoding: try bytes(records, tracks: tracks, shape: shape), as: UTF8.self)
  }
}

extension String {
  /// The text of a CSV field, without the apostrophe that keeps spreadsheets from running it.
  var withoutMark: String {
    prefixMatch(of: /'(?='*[=+\-@\t\r\n])/) != nil ? String(String.UnicodeScalarView(unicodeScalars.dropFirst())) : self
  }
}
