import Pinging

/// Resolves the names of all targets, several at a time: each look-up blocks a thread, and an unknown name can take
/// half a minute.
struct PingNames {
  typealias Found = Result<PingTarget, NameError>

  /// The number of simultaneous look-ups.
  static let atATime = 8

  let options: PingOptions

  /// - Returns: The result for each of `names`, in the same order.
  func targets(_ names: [String]) async -> [Found] {
    await withTaskGroup(of: (index: Int, found: Found).self) { group in
      var all: [Int: Found] = [:]
      for (index, name) in names.enumerated() {
        if index >= Self.atATime, let next = await group.next() { all[next.index] = next.found }
        group.addTask { (index, await target(name)) }
      }
      for await next in group { all[next.index] = next.found }
      return names.indices.compactMap { all[$0] }
    }
  }

  /// The target with the first address of its name; its source must have the same IP version.
  private func target(_ name: String) async -> Found {
    var target = options.target
    do throws(NameError) {
      target.address = try await PingAddress.resolve(name, port: target.address.port, family: options.family)[0]
      if let source = options.source {
        target.source = try await PingAddress.resolve(source, port: 0, family: target.address.family)[0]
      }
      return .success(target)
    } catch {
      return .failure(error)
    }
  }
}
