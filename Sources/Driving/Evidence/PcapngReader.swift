/// Reads pcapng: blocks of a type, a length, a body, and the length again. libpcap reads files only, drops the statistics and is optional
/// (docs/decisions/0010).
struct PcapngReader {
  private struct Interface {
    let linkType: UInt16
    let ticks: TickLength
  }

  private var content = CaptureContent()
  private var interfaces: [Interface] = []
  private var isLittle = true

  /// `nil` for bytes that are not pcapng.
  static func read(_ bytes: Bytes) -> CaptureContent? {
    guard bytes.u32(0) == sectionHeader, byteOrder(bytes) != nil else { return nil }
    var reader = PcapngReader()
    reader.readBlocks(bytes)
    return reader.content
  }

  private static let sectionHeader: UInt32 = 0x0A0D_0D0A

  /// Whether the section that begins here is little-endian; `nil` for an unknown magic number.
  private static func byteOrder(_ block: Bytes) -> Bool? {
    switch block.u32(8) {
    case 0x4D3C_2B1A: true
    case 0x1A2B_3C4D: false
    default: nil
    }
  }

  private mutating func readBlocks(_ bytes: Bytes) {
    var offset = 0
    while offset < bytes.count, content.damage == nil {
      guard let rest = bytes.dropping(offset) else { return }
      if rest.u32(0) == Self.sectionHeader {
        guard let order = Self.byteOrder(rest) else { return stop(offset, "a section without a byte order") }
        isLittle = order
        interfaces = []
      }
      guard let type = rest.u32(0, little: isLittle), let length = rest.u32(4, little: isLittle).map(Int.init) else {
        return stop(offset, "a block is cut off")
      }
      guard length >= 12, length % 4 == 0 else { return stop(offset, "a block of \(length) bytes") }
      guard let block = rest.slice(0, length) else { return stop(offset, "a block is cut off") }
      guard block.u32(length - 4, little: isLittle) == UInt32(length), let body = block.slice(8, length - 12) else {
        return stop(offset, "the two lengths of a block differ")
      }
      read(type, body, at: offset)
      offset += length
    }
  }

  private mutating func stop(_ offset: Int, _ reason: String) {
    content.damage = "at byte \(offset): \(reason)"
  }

  private mutating func read(_ type: UInt32, _ body: Bytes, at offset: Int) {
    switch type {
    case Self.sectionHeader where body.u16(4, little: isLittle) != 1: stop(offset, "an unknown version")
    case 1: readInterface(body, at: offset)
    case 5: readStatistics(body)
    case 6: readPacket(body)
    // Obsolete packets (2), and simple packets without a time (3).
    case 2, 3: content.unusable += 1
    default: break
    }
  }

  private mutating func readInterface(_ body: Bytes, at offset: Int) {
    guard let linkType = body.u16(0, little: isLittle), let options = body.dropping(8) else {
      return stop(offset, "an interface is too short")
    }
    var resolution: UInt8 = 6
    var seconds: Int64 = 0
    forEachOption(options) { code, value in
      if code == 9 { resolution = value[0] ?? 6 }
      if code == 14 { seconds = Int64(bitPattern: value.u64(0, little: isLittle) ?? 0) }
    }
    interfaces.append(Interface(linkType: linkType, ticks: TickLength(resolution: resolution, offset: seconds)))
  }

  private mutating func readPacket(_ body: Bytes) {
    guard let number = body.u32(0, little: isLittle), number < interfaces.count,
      let high = body.u32(4, little: isLittle), let low = body.u32(8, little: isLittle),
      let captured = body.u32(12, little: isLittle), let bytes = body.slice(20, Int(captured)),
      let stamp = interfaces[Int(number)].ticks.nanoseconds(UInt64(high) << 32 | UInt64(low))
    else {
      content.unusable += 1
      return
    }
    content.packets.append(
      CapturedPacket(stamp: stamp, linkType: interfaces[Int(number)].linkType, bytes: bytes))
  }

  private mutating func readStatistics(_ body: Bytes) {
    guard let options = body.dropping(12) else { return }
    var statistics = CaptureStatistics()
    forEachOption(options) { code, value in
      guard let count = value.u64(0, little: isLittle) else { return }
      switch code {
      case 5, 7: statistics.dropped &+= count
      case 6: statistics.accepted = count
      case 8: statistics.delivered = count
      default: break
      }
    }
    content.statistics = (content.statistics ?? CaptureStatistics()) + statistics
  }

  private func forEachOption(_ options: Bytes, _ body: (UInt16, Bytes) -> Void) {
    var offset = 0
    while let code = options.u16(offset, little: isLittle), code != 0,
      let length = options.u16(offset + 2, little: isLittle),
      let value = options.slice(offset + 4, Int(length))
    {
      body(code, value)
      offset += 4 + (Int(length) + 3) / 4 * 4
    }
  }
}

/// The resolution and the origin of an interface's time stamps in pcapng.
struct TickLength: Hashable {
  /// 10^-n seconds; with the highest bit set, 2^-n.
  let resolution: UInt8
  /// Seconds to add to the stamps.
  let offset: Int64

  /// Nanoseconds since the epoch; `nil` before it and beyond the year 2262, so that the difference of two always fits 64 bits.
  func nanoseconds(_ ticks: UInt64) -> Int64? {
    guard let plain = scaled(ticks).flatMap(Int64.init(exactly:)) else { return nil }
    let (shift, overflow) = offset.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow2) = plain.addingReportingOverflow(shift)
    return overflow || overflow2 || sum < 0 ? nil : sum
  }

  private func scaled(_ ticks: UInt64) -> UInt64? {
    let exponent = Int(resolution & 0x7F)
    if resolution & 0x80 != 0 {
      guard exponent < 64 else { return nil }
      let (seconds, overflow) = (ticks >> UInt64(exponent)).multipliedReportingOverflow(by: 1_000_000_000)
      let fraction = ticks & ((1 << UInt64(exponent)) - 1)
      let product = fraction.multipliedFullWidth(by: 1_000_000_000)
      let nanoseconds = exponent == 0 ? 0 : product.high << UInt64(64 - exponent) | product.low >> UInt64(exponent)
      let (sum, overflow2) = seconds.addingReportingOverflow(nanoseconds)
      return overflow || overflow2 ? nil : sum
    }
    guard exponent <= 28 else { return nil }
    let power = (0..<abs(exponent - 9)).reduce(UInt64(1)) { power, _ in power * 10 }
    if exponent > 9 { return ticks / power }
    let (product, overflow) = ticks.multipliedReportingOverflow(by: power)
    return overflow ? nil : product
  }
}
