/// The fences of a drive, with the samples and the reports of the radio from which the figures of the last ones are computed.
struct FenceTrack: Sendable {
  /// In order of entry.
  var all: [Fence] = []
  var radio = RadioTrack()
  /// The samples of the last fences. A fence's samples stay until none of its pings can be answered in time any more.
  private var samples: [PingSamples] = []

  var openIndex: Int? {
    guard let last = all.indices.last, all[last].exited == nil else { return nil }
    return last
  }

  /// The fence in which `time` lies. The exact moments of entry and exit belong to no fence (docs/algorithm.md, 4).
  func index(at time: DriveTime) -> Int? {
    guard let index = all.lastIndex(where: { $0.entered < time }) else { return nil }
    guard let exited = all[index].exited else { return index }
    return time < exited ? index : nil
  }

  /// - Parameter pingInterval: The interval at which pings are sent.
  mutating func open(_ fence: Fence, pingInterval: Duration) {
    radio.begin(at: fence.entered)
    samples.append(PingSamples(interval: pingInterval))
    all.append(fence)
  }

  /// Ends the open fence, if there is one.
  mutating func close(at time: DriveTime) -> Fence? {
    guard let index = openIndex else { return nil }
    all[index] = completed(index, at: time)
    all[index].exited = time
    let oldest = DriveTime(microseconds: time.microseconds - PingSamples.memory)
    let complete = all.suffix(samples.count).prefix { $0.exited.map { $0 < oldest } ?? false }
    samples.removeFirst(complete.count)
    return all[index]
  }

  /// The fence with its figures, those of the open one up to `time`.
  func completed(_ index: Int, at time: DriveTime) -> Fence {
    var fence = all[index]
    if fence.exited == nil { fence.radio = radio.figures(until: time) }
    if let place = samplesPlace(of: index) { samples[place].complete(&fence.figures) }
    return fence
  }

  /// - Parameter sign: 1, or -1 to take back what was counted.
  mutating func count(_ event: Event, in index: Int, by sign: Int) {
    switch event.kind {
    case .ping(let outcome):
      sign > 0 ? all[index].count(outcome) : all[index].uncount(outcome)
      guard let place = samplesPlace(of: index) else { return }
      sign > 0 ? samples[place].add(outcome, sent: event.at) : samples[place].remove(outcome, sent: event.at)
    case .late: all[index].figures.late += sign
    case .duplicate: all[index].figures.duplicates += sign
    default: break
    }
  }

  /// The index of a fence's samples in ``samples``; `nil` when they have been dropped.
  private func samplesPlace(of index: Int) -> Int? {
    let place = index - (all.count - samples.count)
    return place >= 0 ? place : nil
  }
}
