// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import ISO8583

/// A link under test, its clock, and answers that a host would give.
struct LinkRig {
    let packager: Packager
    var link: AcquirerLink
    var now: UInt64 = 1_000

    var time: HostTime

    init(_ builtIn: Packager.BuiltIn = .bcd1987, rules: LinkRules = LinkRules(), stan: Int = 42, signsOn: Bool = true)
        throws
    {
        packager = try Packager(builtIn)
        time = try #require(HostTime(year: 2026, month: 11, day: 22, hour: 14, minute: 30, second: 5))
        let moment = LinkMoment(milliseconds: 1_000, time: time)
        link = AcquirerLink(packager, rules: rules, stan: stan - (signsOn ? 1 : 0), at: moment)
        if signsOn {
            _ = put(.connected)
            _ = put(.received(try answer(to: try signOn(), "00")))
        }
    }

    func signOn() throws -> ISOMessage {
        guard case .signingOn(let message, _) = link.session else { throw Missing() }
        return message
    }

    struct Missing: Error {}

    var moment: LinkMoment { LinkMoment(milliseconds: now, time: time) }

    mutating func put(_ input: LinkInput, after milliseconds: UInt64 = 0) -> [LinkEffect] {
        now += milliseconds
        return link.handle(input, at: moment)
    }

    /// The request of the vectors, without what the link sets.
    func payment(_ id: String = "auth-0100-visa-1987-ascii-binbitmap") throws -> ISOMessage {
        let fields = try #require(try VectorTests.row(id).fields).filter { !["7", "11", "37"].contains($0.key) }
        return try VectorTests.message(fields, packager)
    }

    func answer(to request: ISOMessage, _ code: String?, _ change: (inout ISOMessage) -> Void = { _ in }) throws
        -> ISOMessage
    {
        var answer = request.keeping([3, 4, 7, 11, 12, 32, 37, 41, 42, 49, 70])
        answer.type = try #require(request.type.answer)
        if let code { answer.set(39, code) }
        change(&answer)
        return answer
    }

    /// Sends a payment and gives what went out.
    mutating func pay(_ id: String) throws -> ISOMessage {
        let effects = put(.authorize(ExchangeID(id), try payment()))
        return try #require(effects.sent.first)
    }
}

extension [LinkEffect] {
    var sent: [ISOMessage] {
        compactMap { if case .send(let message) = $0 { message } else { nil } }
    }

    /// Without what is only for the books.
    var told: [LinkEffect] {
        filter {
            switch $0 {
            case .record, .send, .takeKey, .useKey: false
            case .settled, .reversed, .advised, .reconciled, .cutOver, .alarm, .disconnect: true
            }
        }
    }
}
