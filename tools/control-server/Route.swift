/// The paths of the endpoints.
enum Route {
  static let control = "/RMBTControlServer"
  static let statistic = "/RMBTStatisticServer"
  /// Read-back and faults; a real server has none of these.
  static let backstage = "\(control)/-"
  /// What QoS tests fetch over HTTP.
  static let page = "\(backstage)/page"
}
