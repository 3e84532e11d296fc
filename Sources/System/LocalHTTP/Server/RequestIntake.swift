// SPDX-License-Identifier: Apache-2.0
/// The server's side of one connection as a machine without sockets and clocks: what arrives goes in, what is to be
/// done comes out.
struct RequestIntake {
    enum Deadline: Equatable {
        case idle, head, body
        /// For a connection that is refused anyway to ask for something, so that its client expects an answer.
        case refusal
    }

    enum Action: Equatable {
        case nothing
        /// Take this deadline instead of the running one.
        case wait(Deadline)
        /// Ask for the body (`100 Continue`), and wait for it.
        case askForBody
        case deliver(ReceivedRequest)
        /// Answer so, and close.
        case refuse(HTTPRefusal)
        case close
    }

    private enum State {
        case idle
        /// A request has begun; so many bytes of its head are here.
        case head(bytes: Int)
        case body(ReceivedRequest, keepAlive: Bool)
        /// The handler has the request.
        case answering(keepAlive: Bool, then: HTTPRefusal?)
        /// Nothing that arrives matters any more.
        case ended
    }

    private var state = State.idle
    private let limits: HTTPLimits
    /// Set by `stop` and by the sender's half-close: no further request is taken.
    private var isLast = false

    /// What the connection is answered, whatever it asks for.
    private let refusal: HTTPRefusal?

    init(limits: HTTPLimits, refusal: HTTPRefusal? = nil) { (self.limits, self.refusal) = (limits, refusal) }

    /// The connection stands.
    func begin() -> Action { .wait(refusal == nil ? .idle : .refusal) }

    /// Whether the answer under way is the connection's last.
    var closesAfterAnswer: Bool {
        guard case .answering(let keepAlive, let refusal) = state else { return true }
        return !keepAlive || (isLast && refusal == nil)
    }

    /// Bytes have come in; they are handed to the parser after this.
    mutating func bytesArrived(_ count: Int) -> Action {
        switch state {
        case .idle:
            state = .head(bytes: count)
            return refusal == nil ? .wait(.head) : .nothing
        case .head(let bytes):
            state = .head(bytes: bytes + count)
            return .nothing
        case .answering(let keepAlive, nil):
            state = .answering(keepAlive: keepAlive, then: .pipelined)
            return .nothing
        case .answering, .body, .ended: return .nothing
        }
    }

    /// The parser has seen what `bytesArrived` announced.
    mutating func bytesParsed() -> Action {
        guard case .head(let bytes) = state, bytes > limits.headBytes else { return .nothing }
        return refuse(.headTooLarge)
    }

    mutating func headReceived(_ head: RequestHead) -> Action {
        switch state {
        case .ended: return .nothing
        case .answering(let keepAlive, _):
            state = .answering(keepAlive: keepAlive, then: .pipelined)
            return .nothing
        case .idle, .head, .body: break
        }
        // Not before: an answer to nothing is taken for a broken connection.
        if let refusal = refusal ?? head.refusal(limits) { return refuse(refusal) }
        let target: RequestTarget
        do throws(HTTPRefusal) { target = try RequestTarget(head.target) } catch { return refuse(error) }
        let request = ReceivedRequest(method: HTTPMethod(rawValue: head.method), target: target, fields: head.fields)
        state = .body(request, keepAlive: head.keepAlive)
        return head.expectsContinue ? .askForBody : .wait(.body)
    }

    mutating func bodyReceived(_ bytes: some Collection<UInt8>) -> Action {
        guard case .body(var request, let keepAlive) = state else { return .nothing }
        guard request.body.count + bytes.count <= limits.bodyBytes else { return refuse(.bodyTooLarge) }
        // Let go of the state's copy first: the array grows in place.
        state = .ended
        request.body += bytes
        state = .body(request, keepAlive: keepAlive)
        return .nothing
    }

    mutating func endReceived() -> Action {
        guard case .body(let request, let keepAlive) = state else { return .nothing }
        state = .answering(keepAlive: keepAlive, then: nil)
        return .deliver(request)
    }

    /// The answer has been handed to the socket.
    mutating func answered() -> Action {
        guard case .answering(let keepAlive, let refusal) = state else { return .nothing }
        guard keepAlive else { return close() }
        if let refusal { return refuse(refusal) }
        if isLast { return close() }
        state = .idle
        return .wait(.idle)
    }

    /// The parser gave up.
    mutating func parsingFailed(_ refusal: HTTPRefusal) -> Action {
        switch state {
        case .idle, .head, .body: return refuse(refusal)
        case .answering(let keepAlive, let pending):
            // After `Connection: close` the parser refuses whatever follows; the answer is still owed.
            state = .answering(keepAlive: keepAlive, then: pending ?? .pipelined)
            return .nothing
        case .ended: return .nothing
        }
    }

    /// The sender has shut down its side. It may still be there to read.
    mutating func inputEnded() -> Action {
        isLast = true
        switch state {
        case .idle: return close()
        case .head, .body: return refuse(.incomplete)
        case .answering, .ended: return .nothing
        }
    }

    /// The deadline last asked for has passed. `isHeld`: somebody still needs the connection.
    mutating func deadlinePassed(isHeld: Bool) -> Action {
        if let refusal, !isEnded { return refuse(refusal) }
        return switch state {
        case .idle: isHeld ? .wait(.idle) : close()
        case .head: refuse(.headTimedOut)
        case .body: refuse(.bodyTimedOut)
        case .answering, .ended: .nothing
        }
    }

    /// The server is being stopped: no further request.
    mutating func stop() -> Action {
        isLast = true
        switch state {
        case .idle: return close()
        case .head, .body: return refuse(.shuttingDown)
        case .answering, .ended: return .nothing
        }
    }

    private mutating func refuse(_ refusal: HTTPRefusal) -> Action {
        state = .ended
        return .refuse(refusal)
    }

    private var isEnded: Bool { if case .ended = state { true } else { false } }

    private mutating func close() -> Action {
        state = .ended
        return .close
    }
}
