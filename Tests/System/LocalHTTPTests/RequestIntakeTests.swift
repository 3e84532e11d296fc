// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LocalHTTP

/// The server's side of a connection, event by event, without a socket.
@Suite struct RequestIntakeTests {
    private var intake = RequestIntake(limits: HTTPLimits())

    private func head(
        _ method: String = "GET", _ target: String = "/x", keepAlive: Bool = true, _ fields: HTTPFields = [:]
    ) -> RequestHead {
        RequestHead(method: method, target: target, isVersionSupported: true, keepAlive: keepAlive, fields: fields)
    }

    private func request(_ body: String = "") -> ReceivedRequest? {
        (try? RequestTarget("/x")).map {
            ReceivedRequest(method: .get, target: $0, fields: [:], body: Array(body.utf8))
        }
    }

    /// A connection whose handler has a request.
    private mutating func deliver(keepAlive: Bool = true) {
        _ = intake.bytesArrived(20)
        _ = intake.headReceived(head(keepAlive: keepAlive))
        _ = intake.endReceived()
    }

    @Test mutating func `A request goes through head, body and answer back to idle`() throws {
        let expected = try #require(request("ab"))
        #expect(intake.bytesArrived(10) == .wait(.head))
        #expect(intake.bytesParsed() == .nothing)
        #expect(intake.bytesArrived(10) == .nothing)
        #expect(intake.headReceived(head()) == .wait(.body))
        #expect(intake.bodyReceived([0x61]) == .nothing)
        #expect(intake.bodyReceived([0x62]) == .nothing)
        #expect(intake.endReceived() == .deliver(expected))
        #expect(!intake.closesAfterAnswer)
        #expect(intake.answered() == .wait(.idle))
        #expect(intake.bytesArrived(1) == .wait(.head))
    }

    @Test func `A connection that is refused is told so when it asks, or after a moment`() {
        var asking = RequestIntake(limits: HTTPLimits(), refusal: .notAllowed)
        #expect(asking.begin() == .wait(.refusal))
        #expect(asking.bytesArrived(10) == .nothing, "it gets no more time for that")
        #expect(asking.headReceived(head()) == .refuse(.notAllowed))
        #expect(asking.endReceived() == .nothing)
        #expect(asking.deadlinePassed(isHeld: false) == .nothing)
        var silent = RequestIntake(limits: HTTPLimits(), refusal: .tooManyConnections)
        #expect(silent.deadlinePassed(isHeld: true) == .refuse(.tooManyConnections))
        var slow = RequestIntake(limits: HTTPLimits(), refusal: .notAllowed)
        _ = slow.bytesArrived(1)
        #expect(slow.deadlinePassed(isHeld: false) == .refuse(.notAllowed))
        #expect(intake.begin() == .wait(.idle))
    }

    @Test mutating func `A request that says close is the connection's last`() {
        deliver(keepAlive: false)
        #expect(intake.closesAfterAnswer)
        // What follows `Connection: close` is not read (RFC 9112 §9.6), and no reason for a further answer.
        #expect(intake.bytesArrived(9) == .nothing)
        #expect(intake.parsingFailed(.malformed) == .nothing)
        #expect(intake.answered() == .close)
    }

    @Test mutating func `Whatever arrives before the answer is refused after it, once`() {
        deliver()
        #expect(intake.bytesArrived(3) == .nothing)
        #expect(intake.headReceived(head()) == .nothing)
        #expect(intake.bodyReceived([1]) == .nothing)
        #expect(intake.endReceived() == .nothing)
        #expect(intake.parsingFailed(.malformed) == .nothing)
        #expect(!intake.closesAfterAnswer)
        #expect(intake.answered() == .refuse(.pipelined))
        #expect(intake.bytesArrived(3) == .nothing)
        #expect(intake.headReceived(head()) == .nothing)
        #expect(intake.answered() == .nothing)
    }

    @Test mutating func `Two heads in one packet are one request too many`() {
        deliver()
        #expect(intake.headReceived(head()) == .nothing)
        #expect(intake.answered() == .refuse(.pipelined))
    }

    @Test mutating func `A sender that has shut its side gets the answer, then the connection ends`() {
        deliver()
        #expect(intake.inputEnded() == .nothing)
        #expect(intake.closesAfterAnswer)
        #expect(intake.answered() == .close)
    }

    @Test mutating func `A sender that leaves between requests needs no answer, one in mid-request does`() {
        #expect(intake.inputEnded() == .close)
        var other = RequestIntake(limits: HTTPLimits())
        _ = other.bytesArrived(1)
        #expect(other.inputEnded() == .refuse(.incomplete))
        #expect(other.inputEnded() == .nothing)
    }

    @Test mutating func `Each deadline has its own end`() {
        #expect(intake.deadlinePassed(isHeld: true) == .wait(.idle))
        _ = intake.bytesArrived(1)
        #expect(intake.deadlinePassed(isHeld: true) == .refuse(.headTimedOut))
        var body = RequestIntake(limits: HTTPLimits())
        _ = body.bytesArrived(1)
        _ = body.headReceived(head())
        #expect(body.deadlinePassed(isHeld: false) == .refuse(.bodyTimedOut))
        var idle = RequestIntake(limits: HTTPLimits())
        #expect(idle.deadlinePassed(isHeld: false) == .close)
        deliver()
        #expect(intake.deadlinePassed(isHeld: false) == .nothing)
    }

    @Test mutating func `Stopping lets a running request finish and takes no other`() {
        deliver()
        #expect(intake.stop() == .nothing)
        #expect(intake.closesAfterAnswer)
        #expect(intake.answered() == .close)
        var idle = RequestIntake(limits: HTTPLimits())
        #expect(idle.stop() == .close)
        var coming = RequestIntake(limits: HTTPLimits())
        _ = coming.bytesArrived(1)
        #expect(coming.stop() == .refuse(.shuttingDown))
    }

    @Test mutating func `Bytes count towards the head until it is complete`() {
        _ = intake.bytesArrived(16 * 1024)
        #expect(intake.bytesParsed() == .nothing)
        _ = intake.bytesArrived(1)
        #expect(intake.bytesParsed() == .refuse(.headTooLarge))
        var together = RequestIntake(limits: HTTPLimits())
        _ = together.bytesArrived(60_000)
        #expect(together.headReceived(head()) == .wait(.body))
        #expect(together.bytesParsed() == .nothing)
    }

    @Test mutating func `A body is counted as it comes, too`() {
        _ = intake.bytesArrived(1)
        _ = intake.headReceived(head())
        #expect(intake.bodyReceived([UInt8](repeating: 0, count: 65_536)) == .nothing)
        #expect(intake.bodyReceived([0]) == .refuse(.bodyTooLarge))
        #expect(intake.endReceived() == .nothing)
    }

    @Test mutating func `Only a sender that has a body is asked to continue`() {
        _ = intake.bytesArrived(1)
        #expect(intake.headReceived(head("POST", ["Expect": "100-Continue", "Content-Length": "1"])) == .askForBody)
        var without = RequestIntake(limits: HTTPLimits())
        _ = without.bytesArrived(1)
        #expect(without.headReceived(head("POST", ["Expect": "100-continue"])) == .wait(.body))
    }

    private func head(_ method: String, _ fields: HTTPFields) -> RequestHead {
        head(method, "/x", keepAlive: true, fields)
    }
}
