/// The columns of the reference database (open-rmbt-database, August 2026) that members of requests go to. A value that does not fit is an SQL
/// error there: the whole request is lost.
enum Columns {
  /// The characters of texts, by member.
  static let widths: [String: Int] = [
    "client_language": 10, "os_version": 100, "api_level": 10, "device": 200, "model": 200, "product": 200,
    "client_software_version": 100, "softwareRevision": 200, "timezone": 200, "tag": 512,
    "telephony_network_operator": 10, "telephony_network_operator_name": 200, "telephony_network_country": 10,
    "telephony_network_sim_operator": 10, "telephony_network_sim_operator_name": 200,
    "telephony_network_sim_country": 10, "telephony_apn": 100, "dual_sim_detection_method": 50, "wifi_ssid": 200,
    "wifi_bssid": 200, "wifi_network_id": 200,
  ]

  /// The values of `last_client_status` and `last_qos_status`; another one is no valid request.
  static let statuses: Set<String> = [
    "WAIT", "INIT", "PING", "DOWN", "UP", "INIT_UP", "SPEEDTEST_END", "QOS_TEST_RUNNING", "QOS_END", "END", "ERROR",
    "ABORTED",
  ]

  /// Checks the members of a request that go to columns of tests.
  static func check(_ fields: Fields) throws {
    for (member, width) in widths { _ = try fields.string(member, limit: width) }
    for member in ["last_client_status", "last_qos_status"] {
      if let status = try fields.string(member), !statuses.contains(status) {
        throw Refusal.format("unknown \(member) \(status)")
      }
    }
    for member in [
      "telephony_phone_type", "telephony_data_state", "submission_retry_count", "test_submission_retry_count",
      "test_num_threads", "num_threads_ul", "telephony_sim_count",
    ] { _ = try fields.integerOrText(member) }
    _ = try fields.bool("telephony_network_is_roaming")
    if let address = try fields.string("test_ip_local"), PeerAddress(address) == nil {
      throw Refusal.badRequest("'\(address)' is not an IP string literal.")
    }
  }
}
