import NIOPosix

enum EventLoops {
    /// Two threads for all local sockets of the process: each request is some microseconds of their time. Never shut
    /// down, so that a server and its clients may come and go.
    static let shared = MultiThreadedEventLoopGroup(numberOfThreads: 2)
}
