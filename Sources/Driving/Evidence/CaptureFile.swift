import CPcap
import Glibc

/// A capture file, read by libpcap: pcap, or pcapng with one type of link. Reading stops at the first damage (``damage``).
public struct CaptureFile: Sendable {
  /// In the order of the file.
  public let packets: [CapturedPacket]
  /// Why the rest of the file was not read; `nil` when all of it was.
  public let damage: String?
  /// The number of packets with an impossible time.
  public let unusable: Int

  /// Reads the contents of a capture file.
  /// - Throws: ``CaptureFileError`` when they do not begin like a capture file.
  public init(_ bytes: [UInt8]) throws(CaptureFileError) {
    let content = try bytes.withUnsafeBufferPointer { bytes throws(CaptureFileError) in try Content(bytes) }
    let all = Bytes(content.bytes)
    packets = content.packets.compactMap { packet in
      all.slice(packet.offset, packet.length).map {
        CapturedPacket(stamp: packet.stamp, linkType: content.linkType, bytes: $0)
      }
    }
    (damage, unusable) = (content.damage, content.unusable)
  }

  /// The packets, their bytes one behind the other.
  private struct Content {
    var packets: [(stamp: Int64, offset: Int, length: Int)] = []
    var bytes: [UInt8] = []
    let linkType: UInt16
    var damage: String?
    var unusable = 0

    init(_ file: UnsafeBufferPointer<UInt8>) throws(CaptureFileError) {
      var message = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
      // The C library reads from memory as from a file; it writes nothing there.
      guard let memory = fmemopen(UnsafeMutableRawPointer(mutating: file.baseAddress), file.count, "r") else {
        throw CaptureFileError(reason: "it is empty")
      }
      guard
        let reader = pcap_fopen_offline_with_tstamp_precision(memory, UInt32(PCAP_TSTAMP_PRECISION_NANO), &message)
      else {
        fclose(memory)
        throw CaptureFileError(reason: message.withUnsafeBufferPointer { text($0.baseAddress) })
      }
      // It closes `memory`, too.
      defer { pcap_close(reader) }
      linkType = UInt16(truncatingIfNeeded: pcap_datalink(reader))
      var header: UnsafeMutablePointer<pcap_pkthdr>?
      var bytes: UnsafePointer<UInt8>?
      var status = pcap_next_ex(reader, &header, &bytes)
      while status == 1, let packet = header?.pointee, let start = bytes {
        take(packet, start)
        status = pcap_next_ex(reader, &header, &bytes)
      }
      if status != PCAP_ERROR_BREAK {
        damage = "behind packet \(packets.count + unusable): \(text(pcap_geterr(reader)))"
      }
    }

    private mutating func take(_ header: pcap_pkthdr, _ start: UnsafePointer<UInt8>) {
      // libpcap reads the 32 bits of seconds as signed. At nanosecond precision `tv_usec` has nanoseconds.
      let seconds = Int64(header.ts.tv_sec) &+ (header.ts.tv_sec < 0 ? 1 << 32 : 0)
      let (scaled, isTooLate) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let (stamp, overflow) = scaled.addingReportingOverflow(Int64(header.ts.tv_usec))
      // Without times before the epoch, the difference of two always fits 64 bits.
      guard !isTooLate, !overflow, stamp >= 0 else { return unusable += 1 }
      packets.append((stamp, bytes.count, Int(header.caplen)))
      bytes += UnsafeBufferPointer(start: start, count: Int(header.caplen))
    }
  }
}

private func text(_ message: UnsafePointer<CChar>?) -> String { message.map { String(cString: $0) } ?? "" }

/// Why the bytes of a file cannot be read as a capture.
public struct CaptureFileError: Error, Hashable, CustomStringConvertible {
  /// In libpcap's words.
  let reason: String

  /// One line for the operator.
  public var description: String { "not a capture file: \(reason)" }
}
