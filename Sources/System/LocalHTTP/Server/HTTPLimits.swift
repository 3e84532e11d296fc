// SPDX-License-Identifier: Apache-2.0
/// What one client may take of the server. The defaults are those of the local APIs.
///
/// More than fifteen stored properties: each is a limit of its own.
public struct HTTPLimits: Equatable, Sendable {
    /// Connections in all; the next one is answered 503. As many again are told so at a time; what comes beyond is
    /// closed without a word, so that refusing never costs more than serving.
    public var connections = 32
    /// Connections of one user; the next one is answered 429.
    public var connectionsPerUser = 8
    /// Of `connections`, and of `streams`, so many are kept for whoever stands higher: see `PeerStanding`.
    public var reserved = 0
    /// Connections that nobody has vouched for, beside `connections`: see `HTTPConnection.vouch`. Where they are all taken, the one
    /// that has been quiet for longest gives its place to the next one. `nil`: everybody is vouched for.
    public var strangers: Int?
    /// So long a connection that nobody has vouched for stays without a request under way.
    public var strangerTime: Duration = .seconds(5)
    /// Streams of events in all. A connection that has become one takes no place among the others.
    public var streams = 32
    /// Streams of one user; the next one is answered 429.
    public var streamsPerUser = 8
    /// Connections of those who speak for others, streams included; the next one is answered 429.
    public var relayed = 64
    /// New connections of one user in a second, over some seconds; what comes beyond is closed without a word.
    public var connectionsPerSecond = 200
    /// Request line and header fields together; more is answered 431.
    public var headBytes = 16 * 1024
    /// Header fields in number; more is answered 431.
    public var headFields = 100
    /// More is answered 413.
    public var bodyBytes = 64 * 1024
    /// From the first byte of a request to the end of its head; then 408.
    public var headTime: Duration = .seconds(5)
    /// From the end of the head to the end of the body; then 408.
    public var bodyTime: Duration = .seconds(10)
    /// Without a request under way; then the connection is closed.
    public var idleTime: Duration = .seconds(60)
    /// For the client to take what was written; then the connection is closed.
    public var drainTime: Duration = .seconds(10)
    /// Between comment lines on a quiet event stream.
    public var heartbeat: Duration = .seconds(15)

    public init() {}

    /// File descriptors that a server with these limits may hold: one listens, and as many connections again are told that they may not.
    package var descriptors: Int { 1 + 2 * connections + (strangers ?? 0) + streams + relayed }
}
