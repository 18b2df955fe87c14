/// The paths of the endpoints.
enum Route {
  static let control = "/RMBTControlServer"
  static let statistic = "/RMBTStatisticServer"
  /// Read-back and faults, which a real server lacks.
  static let backstage = "\(control)/-"
  /// What QoS tests fetch over HTTP.
  static let page = "\(backstage)/page"
}
