import Dispatch
import Foundation
import Testing

@testable import SystemServices

/// The events that end a thread's wait.
struct WakePipeTests {
  @Test("when the pipe is not woken, then the wait lasts until its time; after a wake, no wait blocks")
  func wakes() {
    let pipe = WakePipe()
    let begun = ContinuousClock.now
    pipe.wait(at: nil, until: begun + .milliseconds(30))
    #expect(ContinuousClock.now - begun >= .milliseconds(30))
    #expect(!pipe.isAwake)
    pipe.wake()
    pipe.wake()
    pipe.wait(at: nil, until: nil)
    pipe.wait(at: nil, until: nil)
    #expect(pipe.isAwake)
  }

  @Test("when another thread wakes the pipe, then an endless wait ends")
  func fromAnotherThread() {
    let pipe = WakePipe()
    DispatchQueue.global().async { pipe.wake() }
    pipe.wait(at: nil, until: nil)
    #expect(pipe.isAwake)
  }

  @Test("when the other descriptor is ready, or its time is past, then the wait ends, and the pipe is not awake")
  func otherDescriptor() {
    let (pipe, ready) = (WakePipe(), Pipe())
    ready.fileHandleForWriting.write(Data([1]))
    pipe.wait(at: pollfd(fd: ready.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0), until: nil)
    pipe.wait(at: nil, until: .now - .seconds(5))
    #expect(!pipe.isAwake)
  }
}
