// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@testable import Transactions

@Suite("The machine of a link that a customer pays by, and of a hand-over to a terminal")
struct LinkMachineTests {
    static let begin = Moment(monotonic: 1_000, wall: Timestamp(milliseconds: 1_700_000_000_000))

    /// A machine, the clock, and what it did last.
    struct Desk {
        var machine: TransactionMachine
        var now = LinkMachineTests.begin
        /// Every state that was written, in order.
        var states: [TransactionState] = []
        var asked: [String] = []
        var told: [Event] = []
        var events: [EventName] { told.map(\.name) }
        var answers: [RequestAnswer] = []
        var question = 0

        init(_ machine: TransactionMachine) { self.machine = machine }

        /// Lets it happen, and takes every write.
        mutating func take(_ input: Input) {
            var effects = machine.take(input, at: now)
            while !effects.isEmpty {
                switch effects.removeFirst() {
                case .write(let write):
                    states += write.changes.map(\.state)
                    effects += machine.take(.written(write.number), at: now)
                case .outward(.link(let what, let number, _), _):
                    question = number
                    switch what {
                    case .open: asked.append("open")
                    case .look: asked.append("look")
                    case .close: asked.append("close")
                    }
                case .outward(.reverse, _): asked.append("reverse")
                case .outward(.publish(let event), _): told.append(event)
                case .outward(.answer(_, let answer), _): answers.append(answer)
                case .outward, .local: break
                }
            }
        }

        mutating func reply(_ reply: LinkReply) { take(.linked(reply, question: question)) }

        mutating func wait(_ seconds: Int64) {
            now.monotonic += seconds * 1_000
            now.wall = now.wall.advanced(bySeconds: seconds)
            take(.due)
        }

        var state: TransactionState { machine.transaction.state }
    }

    func transaction(
        _ state: TransactionState = .created, _ type: TransactionType = .link
    ) throws -> Transaction {
        let euro = try #require(Currency("EUR"))
        var transaction = Transaction(
            id: TransactionID(), type: type, mode: .test, lane: "-", amount: Money(value: 1_250, currency: euro),
            order: "T-7", createdAt: Self.begin.wall)
        var request = TransactionRequest(type: type, amount: transaction.amount)
        request.link = LinkOptions(expires: 900, to: type == .link ? nil : "counter-2")
        transaction.details = TransactionDetails(request)
        transaction.retryOf = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c583")
        transaction.state = state
        return transaction
    }

    func desk(_ type: TransactionType = .link) throws -> Desk {
        let transaction = try transaction(.created, type)
        var demand = TransactionParameters(kind: .sale, owner: Principal(uid: 1))
        demand.link = LinkRequest(
            id: transaction.id, mode: .test, amount: transaction.amount, terminal: "1",
            expiresAt: transaction.createdAt.advanced(bySeconds: 900), to: transaction.details?.handover?.to)
        return Desk(TransactionMachine(transaction, demand, at: Self.begin))
    }

    func opened(_ type: TransactionType = .link) throws -> Desk {
        var desk = try desk(type)
        desk.take(.begin)
        desk.take(.connected)
        desk.reply(try open(desk))
        return desk
    }

    func open(_ desk: Desk, _ url: String = "https://pay.example/7") throws -> LinkReply {
        var answer = LinkAnswer(id: desk.machine.id, state: .open)
        if desk.machine.transaction.type == .link { answer.url = url }
        return .answered(answer)
    }

    func ended(_ desk: Desk, _ state: LinkAnswer.State) -> LinkReply {
        .answered(LinkAnswer(id: desk.machine.id, state: state))
    }

    func declined(_ desk: Desk, _ code: String = "51") -> LinkReply {
        var answer = LinkAnswer(id: desk.machine.id, state: .declined)
        answer.payment = AuthorizationAnswer(outcome: .declined, responseCode: code)
        answer.card = MaskedCard(scheme: "Visa", last4: "1111", masked: "************1111")
        return .answered(answer)
    }

    func paid(_ desk: Desk, _ value: Int64? = nil) -> LinkReply {
        var answer = LinkAnswer(id: desk.machine.id, state: .paid)
        var payment = AuthorizationAnswer(outcome: .approved, responseCode: "00")
        payment.amountApproved = value.map { Money(value: $0, currency: desk.machine.transaction.amount.currency) }
        answer.payment = payment
        answer.card = MaskedCard(scheme: "Visa", last4: "1111", masked: "************1111")
        return .answered(answer)
    }

    @Test func `It is written down before it goes out, shown while it is open, and ends with the customer's payment`()
        throws
    {
        var desk = try opened()
        #expect(desk.states == [.sent] && desk.asked == ["open"])
        #expect(desk.machine.transaction.link?.url == "https://pay.example/7")
        #expect(desk.machine.transaction.link?.expiresAt == Self.begin.wall.advanced(bySeconds: 900))
        desk.wait(2)
        #expect(desk.asked == ["open", "look"])
        desk.reply(paid(desk))
        #expect(desk.states == [.sent, .approved] && desk.events == [.linkOpened, .paymentApproved])
        #expect(desk.machine.transaction.link == nil && desk.machine.transaction.card?.last4 == "1111")
        #expect(desk.machine.isOver)
    }

    @Test func `Whoever shows it is told once for each address: where, how much, until when, and after which sale`()
        throws
    {
        var desk = try opened()
        let event = try #require(desk.told.first)
        #expect(desk.told.count == 1 && event.name == .linkOpened && event.lane == Transaction.noLane)
        #expect(event.link == desk.machine.transaction.link && event.link?.url == "https://pay.example/7")
        #expect(event.amount == desk.machine.transaction.amount && event.transaction == desk.machine.id)
        #expect(event.retryOf == desk.machine.transaction.retryOf && event.retryOf != nil)
        #expect(event.customerText == "Scan the code with your phone to pay")
        desk.wait(2)
        desk.reply(try open(desk))
        #expect(desk.told.count == 1)
        desk.wait(2)
        desk.reply(try open(desk, "https://pay.example/8"))
        #expect(desk.told.map(\.link?.url) == ["https://pay.example/7", "https://pay.example/8"])
    }

    @Test func `An address that no customer's phone may be sent to is none, and nobody is told of it`() throws {
        let long = "https://pay.example/" + String(repeating: "7", count: 500)
        for url in ["http://pay.example/7", "javascript:pay()", "https://pay.example/ 7", long, ""] {
            var desk = try desk()
            desk.take(.begin)
            desk.take(.connected)
            desk.reply(try open(desk, url))
            #expect(desk.machine.transaction.link == nil && desk.told.isEmpty && desk.state == .sent, "\(url)")
            // It is asked about all the same, and shown once the address can be used.
            desk.wait(2)
            #expect(desk.asked == ["open", "look"])
            desk.reply(try open(desk))
            #expect(desk.machine.transaction.link?.url == "https://pay.example/7" && desk.events == [.linkOpened])
        }
    }

    @Test func `Where nobody is reached it fails, and a refusal declines it: nothing is asked after that`() throws {
        var away = try desk()
        away.take(.begin)
        away.take(.notConnected)
        #expect(away.states == [.failed] && away.asked.isEmpty)
        var refused = try desk()
        refused.take(.begin)
        refused.take(.connected)
        refused.reply(.refused(.pspRefused))
        #expect(refused.state == .declined && refused.machine.isOver)
        #expect(refused.machine.transaction.error?.code == "psp.refused")
    }

    @Test
    func `Its time does not end it: it is closed, and ends with the service's word, which may be that it was paid`()
        throws
    {
        for (state, end) in [(LinkAnswer.State.expired, TransactionState.declined), (.paid, .approved)] {
            var desk = try opened()
            desk.wait(900)
            #expect(desk.asked.last == "close" && desk.state == .sent)
            desk.reply(.unusable)
            desk.wait(3_600)
            #expect(desk.asked.last == "close" && desk.state == .sent)
            // Somebody is paying in that moment.
            desk.reply(try open(desk))
            #expect(desk.state == .sent)
            desk.wait(2)
            desk.reply(state == .paid ? paid(desk) : ended(desk, state))
            #expect(desk.state == end)
            if state == .expired { #expect(desk.machine.transaction.result?.reason == .linkExpired) }
        }
    }

    @Test func `What the service has never seen is closed, not opened again: it may still be on its way`() throws {
        var desk = try desk()
        desk.take(.begin)
        desk.take(.connected)
        desk.reply(.unusable)
        desk.wait(2)
        #expect(desk.asked == ["open", "look"])
        desk.reply(.neverSeen)
        #expect(desk.asked == ["open", "look", "close"] && desk.state == .sent)
        // "Never seen" is no proof, however often it is said.
        desk.reply(.neverSeen)
        desk.wait(60)
        desk.reply(.neverSeen)
        #expect(desk.state == .sent)
        desk.wait(60)
        desk.reply(ended(desk, .cancelled))
        #expect(desk.state == .declined && desk.machine.transaction.result?.reason == .hostTimeout)
        #expect(!desk.asked.contains("reverse"))
    }

    @Test func `A cancel is answered by the service: cancelled, or too late because it was paid`() throws {
        for isPaid in [false, true] {
            var desk = try opened()
            desk.take(.cancel(.client, RequestID(1)))
            #expect(desk.asked.last == "close" && desk.answers.isEmpty)
            desk.reply(isPaid ? paid(desk) : ended(desk, .cancelled))
            #expect(desk.answers == [isPaid ? .tooLate(.approved, becomesReversal: false) : .cancelled])
            #expect(desk.state == (isPaid ? .approved : .declined))
            if !isPaid { #expect(desk.machine.transaction.result?.reason == .cancelledAfterSending) }
        }
    }

    @Test func `A cancel without an answer is too late for now, and is asked for until there is one`() throws {
        var desk = try opened()
        desk.take(.cancel(.client, RequestID(1)))
        desk.reply(.unusable)
        #expect(desk.answers == [.tooLate(.sent, becomesReversal: false)])
        desk.wait(2)
        #expect(desk.asked.last == "close")
        desk.reply(ended(desk, .cancelled))
        #expect(desk.state == .declined && desk.answers.count == 1)
    }

    @Test func `A cancel while the service is being asked closes it with the next question`() throws {
        var desk = try opened()
        desk.wait(2)
        desk.take(.cancel(.client, RequestID(1)))
        #expect(desk.asked == ["open", "look"])
        desk.reply(try open(desk))
        #expect(desk.asked == ["open", "look", "close"])
    }

    @Test func `A reversal closes it, and takes back what was paid all the same`() throws {
        var desk = try opened()
        desk.take(.reverse(.customerCancel, RequestID(1)))
        #expect(desk.answers == [.done] && desk.asked.last == "close")
        desk.reply(paid(desk))
        #expect(desk.states == [.sent, .reversing] && desk.asked.last == "reverse")
    }

    @Test func `Another amount, another link or no payment is no answer`() throws {
        var desk = try opened()
        desk.wait(2)
        desk.reply(paid(desk, 1_251))
        desk.wait(2)
        var bare = LinkAnswer(id: desk.machine.id, state: .paid)
        desk.reply(.answered(bare))
        desk.wait(4)
        bare = LinkAnswer(id: TransactionID(), state: .cancelled)
        desk.reply(.answered(bare))
        #expect(desk.state == .sent && desk.states == [.sent])
    }

    @Test func `One that is to end and does not becomes an open item, which a person can settle`() throws {
        var desk = try opened()
        desk.wait(900)
        for _ in 0..<TransactionMachine.attemptsUnseen {
            #expect(desk.machine.open == nil)
            desk.reply(.unusable)
            desk.wait(60)
        }
        #expect(desk.machine.open == .unanswered)
        let note = Settlement(.notCharged, at: desk.now.wall, uid: 1, note: "asked by telephone")
        desk.take(.settle(note, RequestID(2)))
        #expect(desk.answers.last == .done && desk.state == .declined)
        // The answer that was on its way says the contrary, and changes nothing.
        desk.reply(paid(desk))
        #expect(desk.state == .declined && desk.events.last == .openItemContradicted)
    }

    @Test
    func
        `A restart does not take it back: it is looked at, with the rest of its time, and told again until that is over`()
        throws
    {
        var recovered = try transaction(.sent)
        recovered.history.append(Transaction.Step(state: .sent, at: Self.begin.wall))
        for (age, question) in [(Int64(60), "look"), (900, "close"), (100_000, "close")] {
            var desk = Desk(
                TransactionMachine(
                    recorded: recovered, TransactionParameters(kind: .sale, owner: Principal(uid: 1)), at: Self.begin))
            desk.now.wall = desk.now.wall.advanced(bySeconds: age)
            desk.take(.recover())
            desk.take(.due)
            #expect(desk.asked == [question] && desk.states.isEmpty, "\(age)")
            desk.reply(try open(desk))
            #expect(desk.machine.transaction.link != nil && desk.state == .sent)
            // Nobody is sent to one that is being closed.
            #expect(desk.events == (question == "look" ? [.linkOpened] : []), "\(age)")
        }
    }

    @Test(arguments: 0..<300)
    func `Whatever comes in whatever order, only the service's word ends it`(seed: UInt64) throws {
        var random = SeededNumbers(state: seed)
        var desk = try desk(seed % 2 == 0 ? .link : .handover)
        desk.take(.begin)
        desk.take(.connected)
        var word: LinkAnswer.State?
        for _ in 0..<60 where !desk.machine.isOver {
            let before = desk.state
            word = nil
            switch random.next(12) {
            case 0: desk.take(.cancel(.client, RequestID(9)))
            case 1: desk.reply(.neverSeen)
            case 2, 3: desk.reply(.unusable)
            case 4: desk.reply(try open(desk))
            case 5:
                word = .paid
                desk.reply(paid(desk))
            case 6:
                word = random.next(2) == 0 ? .expired : .cancelled
                desk.reply(ended(desk, word ?? .expired))
            case 8:
                if seed % 2 == 1 { word = .declined }
                desk.reply(declined(desk))
            case 7: desk.take(.linked(paid(desk), question: desk.question + 7))
            default: desk.wait(Int64(random.next(400)))
            }
            if desk.state != before {
                #expect(desk.state == (word == .paid ? .approved : .declined))
                #expect(word != nil)
            }
        }
        #expect(desk.states.first == .sent && desk.states.count <= 2)
    }
}

/// The same numbers for the same seed.
private struct SeededNumbers {
    var state: UInt64

    mutating func next(_ limit: UInt64) -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) % limit
    }
}
