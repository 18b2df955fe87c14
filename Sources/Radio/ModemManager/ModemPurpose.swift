import MessageBus

/// The purpose of an answer of ModemManager, or of the bus.
enum ModemPurpose: Hashable, Sendable {
  case match
  case owner
  case objects
  case liveness
  case signalSetup(String)
  case locationSetup(String)
  case cells(String)
}

// The bus with these purposes.
typealias BusCall = MessageBus.BusCall<ModemPurpose>
typealias BusMessage = MessageBus.BusMessage<ModemPurpose>
typealias BusValue = MessageBus.BusValue
typealias BusError = MessageBus.BusError
typealias WakePipe = MessageBus.WakePipe
#if canImport(CSystemd)
  typealias SystemBus = MessageBus.SystemBus<ModemPurpose>
#endif
