// SPDX-License-Identifier: Apache-2.0

/// How long the daemon waits for what of the adapter.
public struct AdapterTimes: Equatable, Sendable {
    /// For the adapter to accept a connection.
    public var connect: Duration = .seconds(2)
    /// For the answer to an authorisation, every repetition included; then it is reversed.
    public var answer: Duration = .seconds(30)
    /// For the adapter to answer before the reader's lamp and tone say that the card was read. An adapter that takes
    /// longer has had the request for so long that it has surely taken it from the socket.
    public var handover: Duration = .milliseconds(200)
    /// How old a read may be when it is sent. One that asks for authorisation and was not sent for longer is never sent.
    public var readLife: Duration = .seconds(60)
    /// Before stored payments are tried again while the adapter is away.
    public var forwarding: Duration = .seconds(1)
    /// For the answer to a query, a reversal or a question about health.
    public var query: Duration = .seconds(5)
    /// Before a question is put again; doubles with every time.
    public var pause: Duration = .milliseconds(250)
    /// Between attempts at a reversal, an operation, a deletion or the forwarding of a stored payment.
    public var attempts = RetrySchedule(.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(600))
    /// Between questions about a day's figures.
    public var figures = RetrySchedule(.seconds(60), .seconds(600), .seconds(3_600))
    /// After a day's end nobody asks for its figures any more.
    public var figuresLife: Duration = .seconds(7 * 86_400)

    public init() {}
}
