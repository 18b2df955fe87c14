import Submission

/// How speed tests are made.
public struct TestOptions: Hashable, Sendable {
  /// The network interface of the request and of the test; `nil`: any.
  public var interface: String?
  /// The IP version of both; `nil`: that of the request.
  public var family: AddressFamily?
  /// Whether the measurement server's certificate must be valid for its name. TLS is there to pass middleboxes.
  public var verifiesCertificate = true
  /// A PEM file of certificates to trust instead of the system's.
  public var caFile: String?

  /// Whether the QoS tests of the control server follow the test.
  public var runsQoS = false
  /// Whether QoS servers are reached by TLS.
  public var qosEncryption = QoSEncryption.auto

  /// The defaults.
  public init() {}
}
