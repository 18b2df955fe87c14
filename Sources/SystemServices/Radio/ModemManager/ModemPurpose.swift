/// The purpose of an answer of ModemManager, or of the bus: it tells ``ModemConversation`` which of its calls is answered.
/// Associated values are the path of the modem's object.
enum ModemPurpose: Hashable, Sendable {
  /// The bus: subscribed to signals.
  case match
  /// The bus: whether ModemManager runs.
  case owner
  /// All objects of ModemManager with their properties.
  case objects
  /// Any answer shows that ModemManager does not hang.
  case liveness
  /// The time of the network: any answer of the modem shows that it does not hang (``ModemPulse``).
  case networkTime(String)
  /// The modem measures its signal from now on.
  case signalSetup(String)
  /// The modem reports its serving cell from now on.
  case locationSetup(String)
  /// The list of the cells that the modem hears.
  case cells(String)
}

typealias ModemCall = BusCall<ModemPurpose>
typealias ModemMessage = BusMessage<ModemPurpose>
#if canImport(CSystemd)
  typealias ModemBus = SystemBus<ModemPurpose>
#endif
