import Settings

extension ProbeConfiguration {
  /// The links of a drive: those of `links`, or the only one.
  var measuredLinks: [LinkSettings] {
    links.isEmpty ? [LinkSettings(name: nil, interface: pings.interface, network: network, radio: radio)] : links
  }
}
