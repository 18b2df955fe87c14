import Coverage
import Foundation
import Logging
import Networking
import Pinging
import Positioning
import Settings
import Store
import Submission
import Synchronization
import SystemServices

/// The sources of a drive on one link, joined in one inbox.
final class DriveSources: Sendable {
  let inbox = DriveInbox()
  let pinger: Pinger
  private let positions: PositionFeed
  private let path: PathMonitor
  private let radio: RadioMonitor
  private let sender: Sender
  private let family: IPVersion?
  private let interface: String?
  /// The kind of link at the start.
  let initialPath: Path

  /// - Parameters:
  ///   - destination: The host of the route that is watched before the pinged address is known; `nil`: the default route.
  ///   - store: Its identity gives the SIM its pseudonym; `nil`: it has none.
  init(
    link: LinkSettings, configuresModem: Bool, family: IPVersion?, positions: PositionFeed,
    destination: String?,
    store: StoreIdentity?, sender: Sender, logger: Logger
  ) throws {
    pinger = try Pinger()
    self.positions = positions
    path = PathMonitor(
      source: link.network, interface: link.interface, destination: destination, logger: logger)
    initialPath = path.current.path
    radio = RadioMonitor(
      source: link.radio, interface: link.interface, mayConfigure: configuresModem,
      simName: { store?.pseudonym(ofSIM: $0) }, logger: logger)
    self.sender = sender
    self.family = family
    interface = link.interface
  }

  /// Interval between reads of ping events. They are also read before every other input. Reading each one at once
  /// would cost more processor time than the ping.
  private static let pingsPeriod: Duration = .milliseconds(500)

  func start(in group: inout TaskGroup<Void>) {
    // Before the first status.
    inbox.put(.input(.path(path.current)))
    group.addTask { [radio, inbox] in await radio.run { inbox.put(.input(.radio($0))) } }
    group.addTask { [path, inbox] in await path.run { inbox.put(.input(.path($0))) } }
    group.addTask { [positions, inbox] in await positions.deliver { inbox.put(.input(.positioning($0))) } }
    group.addTask { [path, inbox] in
      await eachSecond {
        inbox.put(.tick)
        path.readFile()
      }
    }
    group.addTask { [inbox] in await each(Self.pingsPeriod) { inbox.put(.pingsDue) } }
  }

  /// Ends the pings; later signals are dropped.
  func stop() {
    pinger.shutdown()
    inbox.close()
  }

  /// - Returns: Whether the drive was still running.
  func requestStop() -> Bool { inbox.put(.input(.stop)) }

  /// Requests a test from the control server, and puts the answer into the inbox. The sender starts a pass first, for
  /// waiting fences.
  /// - Returns: The request; the caller cancels it when it no longer needs the answer.
  func requestTest(_ wanted: TestRequest) -> Task<Void, Never> {
    Task {
      let generation = wanted.generation
      do {
        await sender.nudge()
        let coverage: CoverageGrant
        do {
          coverage = try await request(wanted, loopUUID: wanted.loopUUID)
        } catch let failure as ServerFailure where failure.isUnknownLoop && wanted.loopUUID != nil {
          coverage = try await request(wanted, loopUUID: nil)
        }
        let grant = GrantedTest(
          coverage: coverage, generation: generation, requested: wanted.at, requestTime: wanted.time)
        inbox.put(.input(.granted(grant, for: generation)))
      } catch {
        let trouble = TestTrouble(error, isNameUnknown: await isNameUnknown(error))
        inbox.put(.input(.requestFailed(trouble, for: generation)))
      }
    }
  }

  private func isNameUnknown(_ error: any Error) async -> Bool {
    guard case ServerFailure.unreachable(_, mayHaveNetwork: false, let name?) = error else { return false }
    return await NameLookUp.isUnknown(name)
  }

  private func request(_ wanted: TestRequest, loopUUID: String?) async throws -> CoverageGrant {
    func request(by family: IPVersion?) async throws -> CoverageGrant {
      try await sender.tests.requestTest(loopUUID: loopUUID, at: wanted.time, by: interface, family: family)
    }
    do {
      return try await request(by: family ?? wanted.family)
    } catch ServerFailure.unreachable where family == nil && wanted.family != nil {
      // The control server or the link lacks this version.
      return try await request(by: nil)
    }
  }

  /// Looks up the address of the pinged host, and puts the answer into the inbox.
  /// - Parameter known: The answer to a look-up that fails, or takes a second.
  func resolve(_ grant: GrantedTest, for generation: TestSelection.Generation, orElse known: PingAddress?) {
    Task {
      let giveUp = Task {
        guard (try? await Task.sleep(for: .seconds(1))) != nil, let known else { return false }
        inbox.put(.input(.resolved(known, grant, for: generation)))
        return true
      }
      do {
        let address = try await PingAddress.ofServer(
          grant.host, port: grant.port, family: family ?? grant.coverage?.ipVersion,
          preferring: grant.preferredFamily, isUnreachable: path.hasOtherFamilyOnly)
        giveUp.cancel()
        if await giveUp.value { return }
        path.follow(address.host)
        var grant = grant
        // The last reading can be that of the route to another host.
        if grant.coverage == nil { grant.localAddress = path.reading(to: address.host).way?.address }
        inbox.put(.input(.resolved(address, grant, for: generation)))
      } catch {
        giveUp.cancel()
        if await giveUp.value { return }
        let fallback = known.map { DriveInput.resolved($0, grant, for: generation) }
        // The network's name server knows of no NAT64: an address that its former prefix made reaches nothing.
        let endsSilent = (error as? OtherFamilyError)?.isCertain == true
        inbox.put(.input(fallback ?? .unresolved(reason: "\(error)", for: generation, endsSilent: endsSilent)))
      }
    }
  }

  /// Looks up a host again, for addresses of the family of `address`, and puts the answer into the inbox.
  func lookUp(_ host: String, like address: PingAddress) {
    Task {
      do {
        let found = try await PingAddress.resolve(host, port: address.port, family: address.family)
        inbox.put(.input(.lookedUp(host: host, addresses: found)))
      } catch {
        inbox.put(.input(.lookUpFailed(host: host, reason: "\(error)")))
      }
    }
  }
}

/// The signals of a drive's sources on their way to its ``DriveRunner``, in one order.
///
/// The sources' threads put signals in, and the runner is woken on its own executor. An `AsyncStream` would wake a thread more for each signal:
/// its iterator leaves the actor that waits for it.
final class DriveInbox: Sendable {
  /// A signal, and when it came, on the clock of `Pinger.now`.
  typealias Dated = (signal: DriveSignal, boot: UInt64)

  private struct State {
    var signals: [Dated] = []
    var wake: (@Sendable () -> Void)?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Puts a signal in, and wakes the reader if there was none before it.
  /// - Returns: `false` after ``close()``: the signal is dropped.
  @discardableResult
  func put(_ signal: DriveSignal) -> Bool {
    let (isOpen, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard !state.isClosed else { return (false, nil) }
      state.signals.append((signal, Pinger.now))
      return (true, state.signals.count == 1 ? state.wake : nil)
    }
    wake?()
    return isOpen
  }

  /// - Parameter wake: Called when there are signals to handle, on the thread of a source: must return at once.
  func open(_ wake: @escaping @Sendable () -> Void) {
    let isWaiting = state.withLock { state in
      state.wake = wake
      return !state.signals.isEmpty
    }
    if isWaiting { wake() }
  }

  /// Removes and returns all signals, oldest first.
  func drain() -> [Dated] {
    state.withLock { state in
      defer { state.signals.removeAll() }
      return state.signals
    }
  }

  /// Drops the signals in the inbox and all later signals.
  func close() {
    state.withLock { $0 = State(isClosed: true) }
  }
}
