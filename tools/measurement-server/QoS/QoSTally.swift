import Foundation

/// The packets of one UDP test, in one direction.
final class QoSTally: @unchecked Sendable {
  /// The client's control connection has this address, and so must its packets (edge 44).
  let client: UInt32
  let uuid: [UInt8]
  let wanted: Int
  private let lock = NSLock()
  private var numbers: [Int8: Int64] = [:]
  private var duplicates = 0

  init(client: UInt32, uuid: [UInt8], wanted: Int) { (self.client, self.uuid, self.wanted) = (client, uuid, wanted) }

  /// - Parameter value: ns for the packet.
  func count(_ number: UInt8, _ value: Int64) {
    lock.withLock {
      // The number is read as signed, as in the reference server.
      let number = Int8(bitPattern: number)
      if numbers[number] == nil { numbers[number] = value } else { duplicates += 1 }
    }
  }

  var received: Int { lock.withLock { numbers.count } }

  /// The reply to `GET UDPRESULT`.
  var result: String {
    lock.withLock {
      let pairs = numbers.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      return "RCV \(numbers.count) \(duplicates) {\(pairs.joined(separator: ","))}"
    }
  }
}
