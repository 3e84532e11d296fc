// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import EMV
import Envelope
import POSAPI
import PSPAPI
import PaymentValues
import ReaderCore
import TapSession
import TerminalFile
import Testing
import Transactions

@testable import TapDaemon

/// A reader with a time of its own.
protocol TimedReader: CardReader {
    /// Since the test began.
    var milliseconds: UInt64 { get }

    func pass(_ milliseconds: UInt64)
}

extension TimedReader {
    var now: TapInstant { TapInstant(nanoseconds: milliseconds * 1_000_000) }
}

/// One sale in virtual time: the tap on the reader, the race of one lane, what the daemon makes of its steps, and the
/// transaction's machine. Journal, HTTP and payment service are not there: every write is written at once, and the sale is over
/// when the machine has what the service would be asked with.
struct VirtualSale {
    /// What became of it.
    struct End {
        var state = TransactionState.created
        var error: ErrorDetail?
        var failedReads = 0
        /// Words about a target that takes no commands.
        var unsupported = 0
        /// Every error code that was told on the way.
        var told: [String] = []
        /// What the tap delivered, which is not yet what the machine took.
        var results: [PaymentTapResult] = []

        /// What the payment service would be asked.
        var asked: [AuthorizationRequest] = []

        /// The payment service is asked, once.
        var isPaid: Bool { state == .sent && asked.count == 1 }
        var status: Outcome.Status? { results.last?.status }
    }

    static let amount: Int64 = 1_250
    private static let begin: Int64 = 1_770_000_000_000
    /// Seconds for a card to be presented.
    var deadline = 60

    /// - Parameter events: is called before the reader is, with what tells the machine of something that a till wants.
    func pay(on reader: any TimedReader, _ events: (((Input) -> Void) -> Void)? = nil) throws -> End {
        let euro = try #require(Currency("EUR"))
        let first = reader.milliseconds
        let wire = POSAPI.Transaction(
            id: TransactionID(), type: .purchase, mode: .test, lane: "east",
            amount: Money(value: Self.amount, currency: euro),
            createdAt: Timestamp(milliseconds: Self.begin))
        var demand = TransactionParameters(kind: .sale, owner: Principal(uid: 1_000))
        (demand.maximumReads, demand.deadline) = (3, deadline)
        func moment() -> Moment {
            let time = Int64(reader.milliseconds - first)
            return Moment(monotonic: time, wall: Timestamp(milliseconds: Self.begin + time))
        }
        let machine = TransactionMachine(wire, demand, at: moment())
        var running = LiveTransaction(
            machine,
            TransactionContext(
                terminal: .test, route: ServiceRoute(nil, nil),
                offline: OfflineSettings(rules: nil, serviceName: "service")
            ))
        var end = End()
        let race = LaneRace(["east"])
        let place = race.place(of: "east")
        func tell(_ input: Input) {
            for effect in running.machine.take(input, at: moment()) {
                switch effect {
                case .write(let write): tell(.written(write.number))
                case .local(.failedReads(let count)): end.failedReads = max(end.failedReads, count)
                case .local(.connect): tell(.connected)
                case .local(.draft(let request)): end.asked.append(request)
                case .local(.disarm): race.cancel()
                case .outward(.publish(let event), _): if let code = event.error?.code { end.told.append(code) }
                case .local, .outward: break
                }
            }
        }
        for input in [Input.begin, .prepared(["east"])] { tell(input) }
        var translation = TapTranslation(running, first: "east")
        func report(_ step: TapProgress) {
            place.yield(step)
            for step in race.takeProgress() {
                for input in translation.inputs(of: step) {
                    if case .targetUnsupported = input { end.unsupported += 1 }
                    tell(input)
                }
            }
        }
        let card = reader.now.advanced(byMilliseconds: UInt64(deadline) * 1_000)
        do throws(PaymentTapError) {
            try tap(wire, until: card).run(
                on: RacingReader(reader, place), cancellation: place.cancellation, clock: { reader.now },
                pause: { reader.pass($0) }
            ) {
                events?(tell)
                report(.signal($0))
            } deliver: { result in
                end.results.append(result)
                report(.result(result))
            }
        } catch {
            report(.ended(error))
        }
        tell(.tapFinished)
        (end.state, end.error) = (running.transaction.state, running.transaction.error)
        return end
    }

    private func tap(_ wire: POSAPI.Transaction, until card: TapInstant) -> PaymentTap {
        PaymentTap(
            authentication: TerminalFile.test.authentication,
            transaction: EMV.Transaction(
                amount: UInt64(Self.amount), currency: 978, exponent: 2, country: 276,
                date: EMVDate(year: 2026, month: 11, day: 28), time: EMVTime(hour: 1, minute: 2, second: 3),
                sequenceCounter: 1),
            binding: CardRecord.Binding(
                transaction: wire.id.text, reader: "east", amount: UInt64(Self.amount), currency: "EUR",
                issuedAt: UInt64(Self.begin / 1_000)),
            recipient: Terminal.test.recipient, deadlines: TapDeadlines(card: card))
    }
}
