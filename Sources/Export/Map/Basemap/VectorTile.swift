/// The layers of a vector tile (MVT 2.1), as far as a drawing without names needs them.
///
/// A tile is from outside: each length is compared with what is there, and the numbers of layers, texts, features and points have
/// limits, so that no tile can hold the report.
struct VectorTile {
  struct Layer {
    var name = ""
    /// The width and height of the tile in the units of the geometry.
    var extent = 4096.0
    var features: [Feature] = []
  }

  struct Feature {
    enum Kind: UInt64 { case points = 1, lines, polygons }

    var kind: Kind?
    /// Values as text.
    var tags: [String: String] = [:]
    fileprivate var geometry = WireReader([])
  }

  private static let mostLayers = 200
  private static let mostFeatures = 20_000
  private static let mostTexts = 50_000
  private static let mostPoints = 200_000

  private(set) var layers: [Layer] = []
  private var (features, texts, points) = (mostFeatures, mostTexts, mostPoints)

  /// - Returns: `nil` for a tile that is cut or damaged.
  init?(_ bytes: [UInt8]) {
    let content = TileContent.isGzip(bytes) ? TileContent.unpacked(bytes, atMost: TileContent.mostBytes) : bytes
    guard let content else { return nil }
    var reader = WireReader(content[...])
    while let field = reader.field() {
      guard field.number == 3, layers.count < Self.mostLayers else { continue }
      guard let layer = readLayer(field.part) else { return nil }
      layers.append(layer)
    }
    if reader.isDamaged { return nil }
  }

  private mutating func readLayer(_ part: WireReader) -> Layer? {
    var (reader, layer) = (part, Layer())
    var (keys, values, parts): ([String], [String], [WireReader]) = ([], [], [])
    while let field = reader.field() {
      switch field.number {
      case 1: layer.name = field.part.text
      case 2 where features > 0:
        features -= 1
        parts.append(field.part)
      case 3 where texts > 0:
        texts -= 1
        keys.append(field.part.text)
      case 4 where texts > 0:
        texts -= 1
        values.append(Self.value(field.part))
      case 5: layer.extent = Double(min(max(1, field.value), 1 << 16))
      default: break
      }
    }
    if reader.isDamaged { return nil }
    layer.features = parts.map { Self.feature($0, keys, values) }
    return layer
  }

  /// A text, or an integer or truth value as text; empty for anything else.
  private static func value(_ part: WireReader) -> String {
    var (reader, value) = (part, "")
    while let field = reader.field() {
      switch field.number {
      case 1: value = field.part.text
      case 4, 5, 7: value = "\(field.value)"
      case 6: value = "\(field.value.zigzag)"
      default: break
      }
    }
    return value
  }

  private static func feature(_ part: WireReader, _ keys: [String], _ values: [String]) -> Feature {
    var (reader, feature) = (part, Feature())
    while let field = reader.field() {
      switch field.number {
      case 2:
        var tags = field.part
        while let key = tags.varint(), let value = tags.varint() {
          guard key < keys.count, value < values.count else { continue }
          feature.tags[keys[Int(key)]] = values[Int(value)]
        }
      case 3: feature.kind = Feature.Kind(rawValue: field.value)
      case 4: feature.geometry = field.part
      default: break
      }
    }
    return feature
  }

  /// The lines or rings of a feature, from 0 to 1 over the tile and a little beyond; cut where the geometry is damaged, or where the tile
  /// has too many points.
  mutating func parts(of feature: Feature, in layer: Layer) -> [[(x: Double, y: Double)]] {
    var reader = feature.geometry
    var (x, y): (Int64, Int64) = (0, 0)
    var parts: [[(x: Double, y: Double)]] = []
    while points > 0, let command = reader.varint() {
      let (kind, count) = (command & 7, command >> 3)
      if kind == 7 { continue }
      guard kind == 1 || kind == 2 else { break }
      var done: UInt64 = 0
      while done < count, points > 0, let east = reader.varint(), let south = reader.varint() {
        (x, y) = (x &+ east.zigzag, y &+ south.zigzag)
        (done, points) = (done + 1, points - 1)
        let point = (x: Double(x) / layer.extent, y: Double(y) / layer.extent)
        if kind == 1 || parts.isEmpty { parts.append([point]) } else { parts[parts.count - 1].append(point) }
      }
    }
    return parts
  }
}

/// Fields of a message in the wire format of Protocol Buffers, and the numbers in it: seven bits a byte, the lowest first.
struct WireReader {
  private var rest: ArraySlice<UInt8>
  /// Whether a number or a length does not fit into what is there.
  private(set) var isDamaged = false

  init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

  /// The text; a class or a layer of a known name is shorter than this.
  var text: String { String(decoding: rest.prefix(64), as: UTF8.self) }

  /// The next number; `nil` at the end, and for more than 64 bits.
  mutating func varint() -> UInt64? {
    if rest.isEmpty { return nil }
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while shift < 70, let byte = rest.popFirst(), shift < 63 || byte < 2 {
      value |= UInt64(byte & 127) << shift
      if byte < 128 { return value }
      shift += 7
    }
    isDamaged = true
    return nil
  }

  /// The next field, with its number or its content; `nil` at the end.
  mutating func field() -> (number: UInt64, value: UInt64, part: WireReader)? {
    guard let key = varint() else { return nil }
    var (value, length): (UInt64?, UInt64?) = (0, 0)
    switch key & 7 {
    case 0: value = varint()
    case 1: length = 8
    case 2: length = varint()
    case 5: length = 4
    default: length = nil
    }
    guard let value, let length, length <= rest.count else {
      isDamaged = true
      return nil
    }
    defer { rest = rest.dropFirst(Int(length)) }
    return (key >> 3, value, WireReader(rest.prefix(Int(length))))
  }
}

extension UInt64 {
  /// The signed number of Protocol Buffers' zigzag coding.
  fileprivate var zigzag: Int64 { Int64(bitPattern: self >> 1) ^ -Int64(bitPattern: self & 1) }
}
