import Foundation
import Settings
import Synchronization

/// `page`: the link that opens the live page.
public enum PageLink {
  /// The links, one a line; on an address that stands for all of the host's, one with a place for the host's name.
  public static func lines(_ configuration: ProbeConfiguration, renew: Bool) throws(CommandFailure) -> [String] {
    guard let address = configuration.agent.page else {
      throw CommandFailure(
        "there is no live page: set agent.page, such as 127.0.0.1:8088, and restart the service")
    }
    let token = try token(configuration.stateDirectory, renew: renew)
    let isEveryAddress = ["0.0.0.0", "::"].contains(address.host)
    let host = isEveryAddress ? "\(PageGuard.hostName):\(address.port)" : address.description
    return ["http://\(host)/?token=\(token.text)"]
  }

  /// The token of the state directory, or a new one if there is none or `renew` is set.
  /// - Throws: ``CommandFailure`` for a token that this user may not read: another one would lock out the browsers that have it.
  private static func token(_ directory: String, renew: Bool) throws(CommandFailure) -> PageToken {
    if !renew, let token = PageToken(directory: directory) { return token }
    if !renew, access(directory + "/page-token", F_OK) == 0 {
      throw CommandFailure(
        "\(directory)/page-token cannot be read: run this as root or as the service's user, or with --renew")
    }
    do {
      return try PageToken(renewedIn: directory)
    } catch {
      let reason = (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
      throw CommandFailure(
        "\(directory)/page-token cannot be written: \(reason); run this as root or as the service's user, after the first start of the service"
      )
    }
  }
}

/// Limits the number of browsers that follow the live page.
final class PageFollowers: Sendable {
  private let count = Mutex(0)
  private let most: Int

  init(most: Int) { self.most = most }

  /// A place, released with its last reference; `nil` when all places are taken.
  func place() -> Place? {
    let isFree = count.withLock { count in
      guard count < most else { return false }
      count += 1
      return true
    }
    return isFree ? Place(self) : nil
  }

  /// The right of one browser to follow; its end makes room for another one.
  final class Place: Sendable {
    private let followers: PageFollowers

    fileprivate init(_ followers: PageFollowers) { self.followers = followers }

    deinit { followers.count.withLock { $0 -= 1 } }
  }
}
