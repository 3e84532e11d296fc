// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import ISO8583

/// Random shops, links and acquirers, each out of one seed: what the link says and what the acquirer has booked.
struct LinkStoryTests {
    /// One story. The books are what `record` wrote; a crash keeps them and loses the rest.
    private struct Story {
        let packager: Packager
        var link: AcquirerLink
        var host: ModelAcquirer
        var random: SeededGenerator
        var now: UInt64 = 0
        var books: [ExchangeID: Exchange] = [:]
        var settled: [ExchangeID: [HostOutcome]] = [:]
        var cancelled: Set<ExchangeID> = []
        var paid: [ExchangeID] = []
        var advised: Set<ExchangeID> = []
        var isConnected = false
        var lateApprovals = 0
        var complaints: [String] = []
        let time: HostTime
        let payment: ISOMessage

        init(seed: UInt64, wickedness: Int, _ packager: Packager) throws {
            self.packager = packager
            random = SeededGenerator(seed: seed)
            host = ModelAcquirer(wickedness: wickedness)
            time = try #require(HostTime(year: 2026, month: 11, day: 22, hour: 14, minute: 30, second: 5))
            let fields = try #require(try VectorTests.row("auth-0100-visa-1987-ascii-binbitmap").fields)
                .filter { !["7", "11", "37"].contains($0.key) }
            payment = try VectorTests.message(fields, packager)
            link = AcquirerLink(packager, stan: 1, at: LinkMoment(milliseconds: 0, time: time))
        }

        var moment: LinkMoment { LinkMoment(milliseconds: now, time: time) }

        mutating func put(_ input: LinkInput) {
            let effects = link.handle(input, at: moment)
            // A crash loses what was not done yet.
            let isCrash = host.wickedness > 0 && Int.random(in: 0..<400, using: &random) == 0
            let done = isCrash ? Int.random(in: 0...effects.count, using: &random) : effects.count
            for effect in effects.prefix(done) { carryOut(effect) }
            if isCrash { restart() }
        }

        private mutating func restart() {
            isConnected = false
            host.breakLine(&random)
            let used =
                books.values.compactMap { $0.repetition?.message.text(11) ?? $0.original.text(11) }
                .compactMap { Int($0) }.max() ?? 0
            link = AcquirerLink(packager, books: Array(books.values), stan: used + 50, at: moment)
        }

        private mutating func carryOut(_ effect: LinkEffect) {
            switch effect {
            case .record(let exchange): books[exchange.id] = exchange
            case .send(let message): if isConnected { host.post(message, toHost: true, at: now, &random) }
            case .settled(let id, let outcome):
                settled[id, default: []].append(outcome)
                check(id, outcome)
            case .alarm(.lateApproval): lateApprovals += 1
            case .advised(let id, let isAccepted): if isAccepted { advised.insert(id) }
            case .disconnect:
                isConnected = false
                host.breakLine(&random)
            case .reversed(let id):
                if let booking = booking(id), !booking.isReversed { complaints.append("\(id) not taken back") }
            case .reconciled, .cutOver, .takeKey, .useKey, .alarm: break
            }
        }

        func booking(_ id: ExchangeID) -> ModelAcquirer.Booking? {
            books[id].flatMap { host.books[ModelAcquirer.name($0.original)] }
        }

        /// What is said to be approved is booked at that moment, in that amount.
        private mutating func check(_ id: ExchangeID, _ outcome: HostOutcome) {
            let answer: ISOMessage
            switch outcome {
            case .approved(let message), .partial(let message): answer = message
            case .declined:
                if let booking = booking(id), !booking.isReversed { complaints.append("\(id) declined and booked") }
                return
            case .unknown, .notSent: return
            }
            guard let booking = booking(id), !booking.isReversed, booking.amount == answer[4] else {
                complaints.append("\(id) approved and not booked so")
                return
            }
        }

        mutating func step() {
            let next = [host.nextLetter, link.nextDeadline].compactMap { $0 }.filter { $0 > now }.min()
            now = min(next ?? now + 1_000, now + UInt64.random(in: 1...5_000, using: &random))
            for message in host.carry(now, &random) where isConnected { put(.received(message)) }
            put(.tick)
            if !isConnected {
                // What was on its way comes to no other connection.
                host.breakLine(&random)
                isConnected = true
                put(.connected)
            }
        }

        mutating func live(_ steps: Int) {
            for number in 0..<steps {
                step()
                switch Int.random(in: 0..<12, using: &random) {
                case 0...3:
                    let id = ExchangeID("p\(number)")
                    paid.append(id)
                    put(.authorize(id, payment))
                case 4:
                    if let id = paid.randomElement(using: &random), books[id] != nil {
                        cancelled.insert(id)
                        put(.reverse(id, .customerCancel))
                    }
                case 5:
                    var advice = payment
                    advice.type = MessageType(220) ?? payment.type
                    put(.advise(ExchangeID("a\(number)"), advice))
                case 6 where host.wickedness > 0 && Int.random(in: 0..<8, using: &random) == 0:
                    isConnected = false
                    host.breakLine(&random)
                    put(.disconnected)
                default: break
                }
            }
            // Then everybody is honest until nothing is left to be done.
            host.wickedness = 0
            for _ in 0..<20_000 where !link.openExchanges.isEmpty { step() }
        }
    }

    private static func tell(_ story: Story, _ seed: UInt64) {
        #expect(story.complaints == [], "seed \(seed)")
        #expect(story.link.openExchanges.map(\.id) == [], "seed \(seed): something stays open")
        for id in story.paid {
            #expect((story.settled[id] ?? []).count <= 1, "seed \(seed): \(id) told twice")
            guard let exchange = story.books[id] else { continue }
            let isBooked = story.booking(id).map { !$0.isReversed } ?? false
            switch exchange.stage {
            case .answered(.approved), .answered(.partial): #expect(isBooked, "seed \(seed): \(id) sold and not booked")
            case .answered, .reversed, .voided: #expect(!isBooked, "seed \(seed): \(id) booked and not sold")
            case .awaiting, .reversing, .advising, .advised, .reconciling, .reconciled:
                Issue.record("seed \(seed): \(id) at \(exchange.stage)")
            }
            if case .approved = story.settled[id]?.first, case .reversed = exchange.stage {
                #expect(story.cancelled.contains(id), "seed \(seed): \(id) approved and taken back by itself")
            }
        }
        for exchange in story.books.values where exchange.id.description.hasPrefix("a") {
            #expect(story.host.advices.contains(ModelAcquirer.name(exchange.original)), "seed \(seed): advice lost")
        }
    }

    @Test func `whatever is lost, late, doubled or contradicted, nothing is approved that is not booked`() throws {
        let packager = try Packager(.bcd1987)
        var (payments, approved, reversed, late) = (0, 0, 0, 0)
        for seed in UInt64(1)...60 {
            var story = try Story(seed: seed, wickedness: seed.isMultiple(of: 3) ? 100 : 50, packager)
            story.live(150)
            Self.tell(story, seed)
            payments += story.settled.count
            approved += story.books.values.count { $0.stage == .answered(.approved) }
            reversed += story.books.values.count { $0.stage == .reversed }
            late += story.lateApprovals
        }
        // Stories in which nothing happens would prove nothing.
        #expect(
            payments > 1_000 && approved > 300 && reversed > 300 && late > 10,
            "\(payments) \(approved) \(reversed) \(late)")
    }

    @Test func `with an honest acquirer no payment is taken back that nobody cancelled`() throws {
        let packager = try Packager(.ascii1987)
        for seed in UInt64(1)...10 {
            var story = try Story(seed: seed, wickedness: 0, packager)
            story.live(150)
            Self.tell(story, seed)
            for exchange in story.books.values where exchange.stage == .reversed {
                #expect(story.cancelled.contains(exchange.id), "seed \(seed)")
            }
        }
    }
}
