import CCurl
import Coverage
import Foundation
import Synchronization

/// One request on its way. All of it belongs to the thread of its loop, except ``cancel()``.
final class Transfer: @unchecked Sendable {
  enum End {
    case code(CURLcode)
    case cancelled
    /// Before anything was sent.
    case refused(String)
  }

  private let request: FetchRequest
  var completion: (@Sendable (Result<FetchAnswer, FetchFailure>) -> Void)?
  private let cancellation = Atomic(false)

  private var easy: UnsafeMutableRawPointer?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  /// Lists that libcurl reads.
  private var lists: [UnsafeMutablePointer<curl_slist>] = []
  /// Bytes of the request's body that libcurl has taken.
  private var taken = 0
  /// When it began, and whether no socket was made yet.
  private var lookUp = (began: ContinuousClock.now, isOngoing: true)
  /// errno of binding the socket.
  private var bindingError: CInt = 0
  private var length = (head: 0, body: 0)
  /// The first bytes of an answer without a head.
  private var foreign: [UInt8] = []
  private var answer = FetchAnswer()

  /// In bytes, of all heads of an answer.
  private static let longestHead = 256 << 10

  init(_ request: FetchRequest) {
    self.request = request
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(easy)
    for list in lists { curl_slist_free_all(list) }
    errorText.deallocate()
  }

  func cancel() { cancellation.store(true, ordering: .releasing) }
  var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

  // MARK: The request

  /// - Returns: libcurl's handle; `nil` when the transfer has ended already.
  func begin() -> UnsafeMutableRawPointer? {
    // A line end would begin another header, and C ends a text at a zero byte.
    let texts = [request.url, request.socketPath ?? ""] + request.headers.flatMap { [$0.key, $0.value] }
    guard texts.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } }) else {
      finish(.refused("a request with control characters"))
      return nil
    }
    guard !isCancelled, let easy = curl_easy_init() else {
      finish(.cancelled)
      return nil
    }
    self.easy = easy
    setUp(easy)
    return easy
  }

  private func setUp(_ easy: UnsafeMutableRawPointer) {
    ccurl_text(easy, CURLOPT_URL, request.url)
    ccurl_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
    // Neither the proxies of the environment nor cached addresses: a request leaves as the pings do, by the network of now.
    ccurl_text(easy, CURLOPT_PROXY, "")
    ccurl_number(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0)
    ccurl_number(easy, CURLOPT_NOSIGNAL, 1)
    // A name server that does not answer holds a thread of libcurl's own, not this one.
    ccurl_number(easy, CURLOPT_QUICK_EXIT, 1)
    ccurl_number(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    // An answer without a head is no HTTP: with this option its first bytes arrive here and tell what answered.
    ccurl_number(easy, CURLOPT_HTTP09_ALLOWED, 1)
    ccurl_number(easy, CURLOPT_TIMEOUT_MS, Self.milliseconds(request.limit))
    ccurl_number(easy, CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(request.connectionLimit ?? request.limit))
    // In a mobile network, a connection that was idle for longer is often dead without a sign: after a change of the address, behind NAT.
    ccurl_number(easy, CURLOPT_MAXAGE_CONN, 10)
    if request.acceptsGzip { ccurl_text(easy, CURLOPT_ACCEPT_ENCODING, "gzip") }
    if request.connection != .kept {
      ccurl_number(easy, CURLOPT_FRESH_CONNECT, 1)
      ccurl_number(easy, CURLOPT_FORBID_REUSE, 1)
    }
    if let version = request.ipVersion {
      ccurl_number(easy, CURLOPT_IPRESOLVE, version == .ipv4 ? Int(CURL_IPRESOLVE_V4) : Int(CURL_IPRESOLVE_V6))
    }
    if let path = request.socketPath { ccurl_text(easy, CURLOPT_UNIX_SOCKET_PATH, path) }
    if let authorities = request.authorities {
      _ = authorities.withUnsafeBytes { ccurl_authorities(easy, $0.baseAddress, $0.count) }
      // libcurl was built with the system's folder of certificates, which it would trust as well.
      ccurl_text(easy, CURLOPT_CAPATH, nil)
      ccurl_text(easy, CURLOPT_CAINFO, nil)
    }
    if request.isInspection {
      for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST] { ccurl_number(easy, option, 0) }
      for option in [CURLOPT_CERTINFO, CURLOPT_CONNECT_ONLY] { ccurl_number(easy, option, 1) }
    }
    setUpBody(easy)
    setUpHeaders(easy)
    setUpCallbacks(easy)
  }

  // MARK: The name

  /// Equal for requests that go to the same server by the same interface and version; `nil` without an interface, or a limit of
  /// the look-up.
  var destination: String? {
    guard let interface = request.interface, request.lookUpLimit != nil else { return nil }
    return "\(interface) \(request.ipVersion?.rawValue ?? 0) \(host)"
  }

  var isLookingUp: Bool { lookUp.isOngoing }
  /// Whether the name should have been found by now.
  var isLookUpOver: Bool { isLookingUp && request.lookUpLimit.map { .now - lookUp.began >= $0 } ?? false }

  /// Connects to this address instead of looking up the name, within what is left of the request's limits.
  func connect(to address: String) {
    lookUp.isOngoing = false
    guard let easy else { return }
    set(CURLOPT_CONNECT_TO, to: [address.contains(":") ? "::[\(address)]:" : "::\(address):"], easy)
    for (option, limit) in [(CURLOPT_TIMEOUT_MS, request.limit), (CURLOPT_CONNECTTIMEOUT_MS, request.connectionLimit)] {
      if let limit { ccurl_number(easy, option, Self.milliseconds(limit - (.now - lookUp.began))) }
    }
  }

  private func setUpBody(_ easy: UnsafeMutableRawPointer) {
    guard let body = request.body else { return }
    ccurl_number(easy, CURLOPT_POST, 1)
    ccurl_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
  }

  private var hasNoBody: Bool { request.body?.isEmpty ?? true }

  private func setUpHeaders(_ easy: UnsafeMutableRawPointer) {
    // The wait for `100 Continue` would cost a round trip.
    var lines = ["Expect:"]
    if hasNoBody { lines.append("Content-Type:") }
    lines += request.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    if request.connection != .kept { lines.append("Connection: close") }
    set(CURLOPT_HTTPHEADER, to: lines, easy)
  }

  private func set(_ option: CURLoption, to lines: [String], _ easy: UnsafeMutableRawPointer) {
    guard let list = lines.reduce(nil, { curl_slist_append($0, $1) ?? $0 }) else { return }
    lists.append(list)
    ccurl_pointer(easy, option, list)
  }

  private func setUpCallbacks(_ easy: UnsafeMutableRawPointer) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    for option in [
      CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_SOCKOPTDATA,
    ] { ccurl_pointer(easy, option, this) }
    ccurl_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    ccurl_receiver(easy, CURLOPT_HEADERFUNCTION) { Transfer.of($3).readHead($0, $1 * $2) }
    ccurl_receiver(easy, CURLOPT_WRITEFUNCTION) { Transfer.of($3).readBody($0, $1 * $2) }
    ccurl_reader(easy) { Transfer.of($3).takeBody($0, $1 * $2) }
    // libcurl repeats a request by itself when a kept connection ends without an answer. The server may have had it: refuse to give
    // the body again.
    ccurl_seeker(easy) { transfer, _, _ in Transfer.of(transfer).taken == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL }
    if request.interface != nil {
      ccurl_socket_options(easy) { transfer, socket, _ in Transfer.of(transfer).bind(socket) }
    }
  }

  private static func of(_ pointer: UnsafeMutableRawPointer?) -> Transfer {
    Unmanaged.fromOpaque(pointer.unsafelyUnwrapped).takeUnretainedValue()
  }

  /// Rounded up: what is left of a limit of 300 ms is 299.99 ms, and must not end early as 299.
  private static func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return max(1, Int(min(max(seconds, 0), 1_000_000)) * 1000 + Int(part))
  }

  // MARK: Callbacks

  private func bind(_ socket: CInt) -> CInt {
    lookUp.isOngoing = false
    let name = request.interface ?? ""
    guard setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, name, socklen_t(name.utf8.count)) != 0 else {
      return CURL_SOCKOPT_OK
    }
    bindingError = errno
    return CInt(CURL_SOCKOPT_ERROR)
  }

  private func takeBody(_ place: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
    guard let place, let body = request.body else { return 0 }
    let count = min(room, body.count - taken)
    body.withUnsafeBytes { bytes in
      guard count > 0, let start = bytes.baseAddress else { return }
      UnsafeMutableRawPointer(place).copyMemory(from: start + taken, byteCount: count)
    }
    taken += count
    return count
  }

  /// Reads a line of the head. The lines behind a body belong to nothing.
  private func readHead(_ start: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    length.head += count
    guard length.head <= Self.longestHead else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    let line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    if bytes.starts(with: "HTTP/".utf8) {
      answer.headers = []
    } else if length.body == 0, let colon = line.firstIndex(of: ":") {
      answer.headers.append(
        (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)))
    }
    return count
  }

  private func readBody(_ start: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let all = UnsafeRawBufferPointer(start: start, count: count)
    guard length.head > 0 else {
      foreign = Array(all.prefix(64))
      return 0
    }
    let bytes = UnsafeRawBufferPointer(rebasing: all.prefix(max(0, request.longestBody - length.body)))
    length.body += count
    if let onBody = request.onBody { onBody(bytes) } else { answer.body.append(contentsOf: bytes) }
    answer.isCutOff = bytes.count < count
    return bytes.count
  }

  // MARK: The end

  /// Completes the request. The handle must have left its loop.
  func finish(_ end: End) {
    let completion = completion
    self.completion = nil
    completion?(result(end))
  }

  private func result(_ end: End) -> Result<FetchAnswer, FetchFailure> {
    if case .refused(let reason) = end { return .failure(FetchFailure(.refused(reason))) }
    guard let easy else { return .failure(FetchFailure(.cancelled)) }
    let traffic = FetchAnswer.Traffic(
      sent: ccurl_info(easy, CURLINFO_REQUEST_SIZE),
      received: ccurl_info(easy, CURLINFO_HEADER_SIZE) + Int(ccurl_info_size(easy, CURLINFO_SIZE_DOWNLOAD_T)))
    let mayHaveArrived = hasNoBody ? traffic.sent > 0 : taken > 0
    switch end {
    case .code(let code) where code == CURLE_OK || answer.isCutOff:
      answer.status = ccurl_info(easy, CURLINFO_RESPONSE_CODE)
      answer.traffic = traffic
      answer.certificates = certificates(easy)
      return .success(answer)
    case .code(let code):
      return .failure(FetchFailure(cause(code, easy), mayHaveArrived: mayHaveArrived, traffic: traffic))
    default: return .failure(FetchFailure(.cancelled, mayHaveArrived: mayHaveArrived, traffic: traffic))
    }
  }

  private func cause(_ code: CURLcode, _ easy: UnsafeMutableRawPointer) -> FetchFailure.Cause {
    if bindingError != 0 { return .interface(request.interface ?? "", bindingError) }
    if !foreign.isEmpty { return .otherProtocol(foreign) }
    if length.head > Self.longestHead { return .malformed("a head of more than \(Self.longestHead >> 10) KiB") }
    let text = String(cString: errorText[0] == 0 ? curl_easy_strerror(code) : UnsafePointer(errorText))
    let number = CInt(truncatingIfNeeded: ccurl_info(easy, CURLINFO_OS_ERRNO))
    return switch code {
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_URL_MALFORMAT: .refused(text)
    case CURLE_COULDNT_RESOLVE_HOST: .noAddress(host: host)
    case CURLE_COULDNT_CONNECT where number != 0: .system(number)
    // Nothing was tried: the address is of the other version, or the process has no file free for a socket.
    case CURLE_COULDNT_CONNECT: isUsableAddress ? .refused(text) : .noAddress(host: host)
    case CURLE_PEER_FAILED_VERIFICATION: text.contains("certificate problem") ? .untrusted : .otherName
    case CURLE_SSL_CONNECT_ERROR where text.contains("wrong version number"): .noTLS
    case CURLE_SSL_CONNECT_ERROR where text.contains("SYSCALL"): number == 0 ? .tls("") : .system(number)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED:
      .tls(text.split(separator: ":").last.map(String.init) ?? text)
    case CURLE_GOT_NOTHING, CURLE_SEND_FAIL_REWIND: .closed
    case CURLE_PARTIAL_FILE: brokenOff(easy)
    case CURLE_RECV_ERROR where text.contains("chunk"): .malformed(text)
    case CURLE_RECV_ERROR where length.head > 0 && number == 0: brokenOff(easy)
    case CURLE_RECV_ERROR, CURLE_SEND_ERROR: number == 0 ? .closed : .system(number)
    default: number == 0 ? .malformed(text) : .system(number)
    }
  }

  private func brokenOff(_ easy: UnsafeMutableRawPointer) -> FetchFailure.Cause {
    let whole = Int(ccurl_info_size(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
    return .brokenOff(after: Int(ccurl_info_size(easy, CURLINFO_SIZE_DOWNLOAD_T)), of: whole < 0 ? nil : whole)
  }

  private var host: String {
    let host = URLComponents(string: request.url)?.host ?? request.url
    return host.trimmingCharacters(in: ["[", "]"])
  }

  /// Whether the URL names an address, of a version that the request may use.
  private var isUsableAddress: Bool {
    var bytes = in6_addr()
    let version: IPVersion? =
      inet_pton(AF_INET, host, &bytes) == 1 ? .ipv4 : inet_pton(AF_INET6, host, &bytes) == 1 ? .ipv6 : nil
    return version != nil && (request.ipVersion ?? version) == version
  }

  private func certificates(_ easy: UnsafeMutableRawPointer) -> [(begin: String, end: String)] {
    guard request.isInspection, let list = ccurl_certificates(easy)?.pointee, let entries = list.certinfo else {
      return []
    }
    return (0..<max(0, Int(list.num_of_certs))).map { index in
      var (begin, end) = ("", "")
      var entry = entries[index]
      while let item = entry?.pointee {
        let text = item.data.map { String(cString: $0) } ?? ""
        if text.hasPrefix("Start date:") { begin = String(text.dropFirst("Start date:".count)) }
        if text.hasPrefix("Expire date:") { end = String(text.dropFirst("Expire date:".count)) }
        entry = item.next
      }
      return (begin, end)
    }
  }
}
