import ControlServer
import Coverage
import Positioning
import Settings

/// Examines this host: whether a drive can be recorded now, and what to do if not. It writes nothing but a temporary file in the state
/// directory, and sends nothing but one registration, one request for a test and its pings.
public struct Doctor: Sendable {
  private let reading: ConfigurationReading
  private let receiver: GPSDConfiguration
  private let device: Device
  private let wall: @Sendable () -> WallTime

  /// - Parameters:
  ///   - reading: The configuration, with its mistakes.
  ///   - receiver: The way to gpsd.
  ///   - device: Sent with requests to the control server.
  ///   - wall: The host's wall clock.
  public init(
    reading: ConfigurationReading, receiver: GPSDConfiguration, device: Device, wall: @escaping @Sendable () -> WallTime
  ) {
    (self.reading, self.receiver, self.device, self.wall) = (reading, receiver, device, wall)
  }

  /// Runs every examination, in the order of ``Finding/Subject``. Takes up to some 20 s, when gpsd or the server does not answer.
  /// - Parameter report: Called with each finding as soon as it is known.
  public func run(_ report: (Finding) -> Void) async {
    let configuration = reading.configuration
    // Both wait for others; neither needs the other.
    async let positions = ReceiverExamination.listen(to: receiver, accuracyLimit: configuration.location.accuracyLimit)
    async let requests = ServerExamination.ask(configuration, device, wall: wall)
    ConfigurationExamination.findings(reading).forEach(report)
    HostExamination.findings(await HostExamination.measure(wall: wall())).forEach(report)
    StateExamination.findings(StateExamination.measure(configuration)).forEach(report)
    SourceExamination.findings(configuration).forEach(report)
    ReceiverExamination.findings(await positions, configuration).forEach(report)
    let answers = await requests
    ServerExamination.findings(answers, configuration).forEach(report)
    for link in configuration.measuredLinks where SourceExamination.isUsable(link) {
      guard let grant = answers.grant else { break }
      let pings = await PingExamination.ping(grant, by: link.interface, family: configuration.pings.family)
      PingExamination.findings(pings, link: link.name).forEach(report)
    }
  }
}
