import Coverage
import Driving
import Positioning
import Settings

extension ProbeConfiguration {
  /// How a drive measures.
  public var driveOptions: DriveOptions {
    var options = DriveOptions(
      links: driveLinks, parameters: parameters, recovery: recovery, pingInterval: pings.interval,
      pingTimeout: pings.timeout, pingFamily: pings.family, configuresModem: configuresModem,
      writesLog: drive.log)
    options.pausesForTests = speedTest.coveragePings == .pause
    return options
  }

  /// How to reach gpsd, and which positions to accept.
  public var receiver: GPSDConfiguration {
    GPSDConfiguration(
      host: gpsd.host, port: gpsd.port, device: gpsd.device, staleAfter: gpsd.staleAfter,
      maximumSpeed: location.maximumSpeed, speedLimit: location.speedLimit)
  }
}
