import Coverage
import Store

/// The figures of a selection by technology, link, area and distance, and what is known of its drives. The fences come in the order of the store.
struct Breakdown: Sendable {
  /// By the technology on which a fence was for the longest time, answered or not.
  private(set) var technologies = FenceGroups(Reception.allCases.filter(\.isCoverage).map(\.name))
  /// By link; the drives of one link only have the name ``Breakdown/onlyLink``.
  private(set) var links = FenceGroups()
  private(set) var areas: FenceGroups
  /// Delay and loss over the distance of each link.
  private(set) var ways: [(link: String, profile: WayProfile)] = []
  private(set) var signal = SignalLevels()
  private(set) var bands = BandGroups()
  private(set) var overview = Overview()
  private(set) var facts = DriveFacts()
  private let areaList: AreaList?

  /// The name of the link of drives that had one.
  static let onlyLink = "one link"
  /// The most links with a profile.
  static let mostProfiles = 8

  init(areas: AreaList?) {
    areaList = areas
    self.areas = FenceGroups(areas?.names ?? [])
  }

  /// - Parameter metres: From the fence of the link before; `nil` when this one does not continue it.
  mutating func add(_ reported: StoredFence, metres: Double?) {
    let (fence, link) = (reported.fence, reported.session.link ?? Self.onlyLink)
    technologies.add(reported, metres: metres, to: Reception(on: fence.mainTechnology).name)
    links.add(reported, metres: metres, to: link)
    if let areaList { areas.add(reported, metres: metres, to: areaList.name(of: fence.centre)) }
    if !ways.contains(where: { $0.link == link }), ways.count < Self.mostProfiles { ways.append((link, WayProfile())) }
    if let place = ways.firstIndex(where: { $0.link == link }) {
      ways[place].profile.add(fence, drive: reported.session.drive, metres: metres)
    }
    signal.add(fence)
    bands.add(reported)
    overview.add(fence, link: link)
    facts.add(reported)
  }
}

/// Delay and loss along the distance of a link, its drives one after the other, in pieces of equal length: when they are too many, two become
/// one. So memory does not grow with the distance.
struct WayProfile: Sendable {
  static let most = 200
  /// The length of a piece in metres: 50, or 50 doubled some times.
  private(set) var length = 50.0
  /// The sums of the pings of each piece; none for a piece without a fence.
  private(set) var pieces: [PingSums] = []
  private(set) var metres = 0.0
  /// Where drives begin, in metres; the first ``mostStarts``.
  private(set) var starts: [Double] = []
  private var drive: Int64?

  /// The most starts of drives that are known.
  static let mostStarts = 40

  /// Adds the next fence.
  /// - Parameter step: The metres from the fence before; after a gap, none.
  mutating func add(_ fence: Fence, drive: Int64, metres step: Double?) {
    metres += step ?? 0
    if drive != self.drive, starts.count < Self.mostStarts { starts.append(metres) }
    self.drive = drive
    while metres / length >= Double(Self.most) { coarsen(to: length * 2) }
    let place = Int(metres / length)
    while pieces.count <= place { pieces.append(PingSums()) }
    pieces[place].add(fence)
  }

  /// Joins pieces until each has at least this length.
  mutating func coarsen(to least: Double) {
    while length < least {
      length *= 2
      pieces.halve { $0.add($1) }
    }
  }
}

/// The levels of the signal that stands for each technology, over the fences' medians, to a tenth of a dBm.
struct SignalLevels: Sendable {
  /// A technology, and the quantity that stands for it.
  struct Key: Hashable, Sendable {
    let reception: Reception
    let quantity: SignalQuantity
  }

  /// The percentiles of a box, by nearest rank.
  static let percents = [5, 25, 50, 75, 95]

  /// Tenths of a dBm, each fence once.
  private var tenths: [Key: Distribution] = [:]

  mutating func add(_ fence: Fence) {
    guard let radio = fence.radio else { return }
    for quantity in FenceRadio.quantities(of: fence.mainTechnology) {
      guard let level = radio.tenths(of: quantity) else { continue }
      let key = Key(reception: Reception(on: fence.mainTechnology), quantity: quantity)
      tenths[key, default: Distribution()].add(level)
      return
    }
  }

  /// The levels at ``percents`` of each technology, in dBm, and its number of fences.
  var boxes: [(key: Key, fences: Int, levels: [Double])] {
    Reception.allCases.flatMap { reception in
      SignalQuantity.allCases.compactMap { quantity in
        let key = Key(reception: reception, quantity: quantity)
        return tenths[key].map { levels in
          (key, levels.count, Self.percents.map { Double(levels.value(atPercentile: $0) ?? 0) / 10 })
        }
      }
    }
  }
}

/// The fences of a selection in cells of a grid for a map without a base map. When the cells are too many, four become one.
struct Overview: Sendable {
  /// A cell with the pings of its fences.
  struct Cell: Sendable {
    /// The centre of its first fence.
    let place: Coordinate
    /// The pings of its measured fences, by link: where one link answers, another one may be silent.
    var links: [String: PingSums] = [:]
  }

  private struct Key: Hashable {
    let row: Int32
    let column: Int32
  }

  static let most = 1500

  private var cells: [Key: Cell] = [:]
  /// The height of a cell in degrees of latitude: 0.0005° are 55 m.
  private var degrees = 0.0005
  /// The place that longitudes relate to, and how much wider than high, in degrees, a cell is there.
  private var origin: (longitude: Double, width: Double)?

  /// The cells from north to south, in each row from west to east.
  var sorted: [Cell] {
    cells.sorted { ($1.key.row, $0.key.column) < ($0.key.row, $1.key.column) }.map(\.value)
  }

  mutating func add(_ fence: Fence, link: String) {
    let place = fence.centre
    let origin = self.origin ?? (place.longitude, 1 / Projection.narrowing(at: place.latitude))
    self.origin = origin
    let east = Projection.degreesEast(of: origin.longitude, place.longitude)
    let key = Key(
      row: Int32(clamping: Int64((place.latitude / degrees).rounded(.down))),
      column: Int32(clamping: Int64((east / degrees / origin.width).rounded(.down))))
    var cell = cells[key] ?? Cell(place: place)
    if fence.isMeasured { cell.links[link, default: PingSums()].add(fence) }
    cells[key] = cell
    if cells.count > Self.most { widen() }
  }

  private mutating func widen() {
    degrees *= 2
    var wider: [Key: Cell] = [:]
    for (key, cell) in cells.sorted(by: { ($0.key.row, $0.key.column) < ($1.key.row, $1.key.column) }) {
      let key = Key(row: key.row >> 1, column: key.column >> 1)
      var sum = wider[key] ?? Cell(place: cell.place)
      for (link, sums) in cell.links { sum.links[link, default: PingSums()].add(sums) }
      wider[key] = sum
    }
    cells = wider
    if cells.count > Self.most { widen() }
  }
}

/// What the fences say of operator, SIM, clock and target of their drives. What no drive recorded is not known.
struct DriveFacts: Sendable {
  /// Names with codes, each with its number of fences; those of the SIM's issuer have its country.
  private(set) var operators: [String: Int] = [:]
  private(set) var simOperators: [String: Int] = [:]
  /// The clocks that dated the drives, and the user's own targets.
  private(set) var clocks: Set<String> = []
  private(set) var targets: Set<String> = []
  /// The modems, SIMs and connections that measured the fences, in order of their first fence, with the ids of their sessions.
  private(set) var equipment: [(used: ModemEquipment, sessions: [Int64])] = []
  /// The fences in which the modem was roaming.
  private(set) var roaming = 0
  /// Whether there are drives whose pings went to the control server's target.
  private(set) var hasServer = false

  /// The most different names that are known.
  static let most = 200

  mutating func add(_ reported: StoredFence) {
    if let clock = reported.session.clock, clocks.count < Self.most { clocks.insert(clock) }
    if let target = reported.session.target {
      if targets.count < Self.most { targets.insert(target) }
    } else {
      hasServer = true
    }
    if let used = reported.session.session.equipment {
      let place = equipment.lastIndex { $0.used == used } ?? equipment.endIndex
      if place == equipment.endIndex { equipment.append((used, [])) }
      if equipment[place].sessions.last != reported.session.id { equipment[place].sessions.append(reported.session.id) }
    }
    guard let radio = reported.fence.radio else { return }
    if radio.isRoaming { roaming += 1 }
    Self.count(radio.operatorCode, radio.operatorName, hasCountry: false, in: &operators)
    Self.count(radio.simOperatorCode, radio.simOperatorName, hasCountry: true, in: &simOperators)
  }

  private static func count(_ code: String?, _ name: String?, hasCountry: Bool, in counts: inout [String: Int]) {
    guard let code else { return }
    let country = hasCountry ? OperatorCode(code)?.countryName.map { ", country \($0.uppercased())" } : nil
    // Where no name is known, ModemManager has the code in its place.
    let known = name.flatMap { $0 == code ? nil : $0 }.map { "\(ForeignText.clean($0, limit: 64)) (\(code))" } ?? code
    let text = known + (country ?? "")
    guard counts[text] != nil || counts.count < most else { return }
    counts[text, default: 0] += 1
  }
}
