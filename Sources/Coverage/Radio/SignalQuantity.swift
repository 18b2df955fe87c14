/// A measure of the modem's signal, by 3GPP's names (TS 36.214 for LTE, TS 38.215 for 5G, TS 25.215 for UMTS).
public enum SignalQuantity: String, Hashable, Sendable, CaseIterable, Codable {
  /// Received power over the whole channel, in dBm.
  case rssi
  /// UMTS: power of the pilot, in dBm.
  case rscp
  /// UMTS: pilot power over the whole power, in dB.
  case ecio
  /// LTE: power of the reference signals, in dBm; in 5G non-standalone that of the LTE anchor.
  case rsrp
  /// LTE: quality of the reference signals, in dB.
  case rsrq
  /// LTE: signal to interference and noise, in dB.
  case sinr
  /// 5G: power of the synchronisation signals, in dBm.
  case nrRSRP = "nr_rsrp"
  /// 5G: quality of the synchronisation signals, in dB.
  case nrRSRQ = "nr_rsrq"
  /// 5G: signal to interference and noise, in dB.
  case nrSINR = "nr_sinr"

  /// Whether the unit is dBm; else dB.
  public var isPower: Bool {
    switch self {
    case .rssi, .rscp, .rsrp, .nrRSRP: true
    case .ecio, .rsrq, .sinr, .nrRSRQ, .nrSINR: false
    }
  }

  /// The values that a modem can mean: what 3GPP's reports can say, and a margin. Other values stand for "unknown" (such as -32768).
  public var range: ClosedRange<Double> {
    switch self {
    case .rssi, .rscp: -140 ... -10
    case .rsrp, .nrRSRP: -160 ... -20
    case .ecio: -40...0
    case .rsrq: -40...10
    case .nrRSRQ: -50...25
    case .sinr, .nrSINR: -30...50
    }
  }
}
