// SPDX-License-Identifier: Apache-2.0
import NIOPosix

enum EventLoops {
    /// One thread for all local sockets of the process: each request is some microseconds of its time. Never shut down, so
    /// that a server and its clients may come and go.
    ///
    /// Not two: with Swift 6.3.1 two loops that met a generic type of NIO for the first time in the same moment crashed
    /// in the runtime's metadata cache (a null pointer under `swift_checkMetadataState`): once in 50 to 700 starts, with
    /// and without our `free` that wipes.
    static let shared = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}
