import Foundation

/// Reads the requests of gpsd's clients.
struct GPSDRequests {
  enum Request: Hashable {
    case watch(enable: Bool, json: Bool)
    case version, devices, poll
    case unknown(String)
  }

  /// A longer request is discarded.
  static let longest = 1024

  private var pending: [UInt8] = []
  private var tooLong = false

  /// The requests that `bytes` complete. A request starts with `?` and ends with `;` or the end of the line; other text is ignored.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [Request] {
    var requests: [Request] = []
    for byte in bytes {
      guard byte == UInt8(ascii: ";") || byte == UInt8(ascii: "\n") else {
        tooLong = tooLong || pending.count >= Self.longest
        if !tooLong { pending.append(byte) }
        continue
      }
      let text = String(decoding: pending, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if !tooLong, text.hasPrefix("?") { requests.append(Self.request(text)) }
      pending = []
      tooLong = false
    }
    return requests
  }

  private static func request(_ text: String) -> Request {
    let parts = text.dropFirst().split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    switch parts[0] {
    case "WATCH": return watch(parts.count > 1 ? String(parts[1]) : "{}")
    case "VERSION": return .version
    case "DEVICES", "DEVICE": return .devices
    case "POLL": return .poll
    // Quote letters only, so that the answer is valid JSON for every request.
    default: return .unknown(String(parts[0].unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }))
    }
  }

  private static func watch(_ text: String) -> Request {
    struct Policy: Decodable {
      var enable: Bool?
      var json: Bool?
    }
    // Like gpsd, treat a broken policy as one without data.
    guard let policy = try? JSONDecoder().decode(Policy.self, from: Data(text.utf8)) else {
      return .watch(enable: true, json: false)
    }
    return .watch(enable: policy.enable ?? true, json: policy.json ?? false)
  }

  static func watchEcho(enable: Bool, json: Bool) -> String {
    #"{"class":"WATCH","enable":\#(enable),"json":\#(json),"nmea":false,"raw":0,"scaled":false,"timing":false,"#
      + #""split24":false,"pps":false}"#
  }
}
