import Testing

@testable import SystemServices

/// Lines of the log about a modem that comes and goes.
struct ComplaintsTests {
  @Test("when the same trouble comes again and again, then it is logged once in ten minutes, and others at once")
  func limit() {
    var complaints = Complaints()
    let start = ContinuousClock.now
    let isNew = [("searching", 0), ("searching", 599), ("no SIM", 599), ("searching", 600), ("searching", 601)].map {
      complaints.isNew($0, at: start + .seconds($1))
    }
    #expect(isNew == [true, false, true, true, false])
  }
}
