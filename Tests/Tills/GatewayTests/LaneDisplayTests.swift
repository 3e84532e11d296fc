// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import TestSupport
import Testing

@testable import Gateway

@Suite("What a customer sees")
struct LaneDisplayTests {
    private static let sale = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c583")
    private static let other = TransactionID("01a2037f-7168-7d2c-9e61-5263e834c584")
    private static let amount = Currency("EUR").map { Money(value: 1_250, currency: $0) }

    private static func event(
        _ name: EventName, _ number: UInt64 = 1, of id: TransactionID? = sale,
        _ change: (inout Event) -> Void = { _ in }
    ) -> Event {
        var event = Event(id: number, name, at: DoorTests.now, lane: "main")
        event.transaction = id
        event.mode = .live
        if name == .readReadyForTap { event.amount = amount }
        change(&event)
        return event
    }

    private static func result(_ outcome: PaymentResult.Outcome) -> PaymentResult {
        var result = PaymentResult(mode: .live, outcome: outcome)
        result.approvalCode = "A1B2C3"
        result.responseCode = "05"
        result.reason = outcome == .declined ? .insufficientFunds : nil
        return result
    }

    private func shown(_ events: [Event]) -> LaneDisplay {
        var display = LaneDisplay(lane: "main")
        for event in events { _ = display.happened(event, at: 0) }
        return display
    }

    @Test("Row 56 of the guidance: whose cards are taken stays through a sale, a loss and the return of the daemon")
    func networksStay() {
        var display = LaneDisplay(lane: "main", networks: ["Visa"])
        #expect(display.taking(["Visa", "Card"]) && !display.taking(["Visa", "Card"]))
        for event in [Self.event(.readReadyForTap), Self.event(.readCancelled)] { _ = display.happened(event, at: 0) }
        _ = display.tick(at: LaneDisplay.resultTime)
        #expect(display.view.phase == .idle && display.view.networks == ["Visa", "Card"])
        _ = (display.lost(at: 0), display.found(.ready, .live, at: 1))
        #expect(display.view.networks == ["Visa", "Card"])
        #expect(display.taking(nil) && display.view.networks == nil)
    }

    @Test func `a sale goes from the amount to thanks, and the amount goes with them`() {
        var display = shown([Self.event(.readReadyForTap)])
        #expect(display.view.phase == .ready && display.view.key == "hold" && display.view.amount == Self.amount)
        _ = display.happened(Self.event(.readCardDetected), at: 0)
        #expect(display.view.phase == .reading && display.view.amount == Self.amount)
        _ = display.happened(Self.event(.readCompleted), at: 0)
        #expect(display.view.phase == .processing && display.view.key == "read")
        _ = display.happened(Self.event(.paymentAuthorizing), at: 0)
        #expect(display.view.key == "read", "the customer is told that the card may go")
        #expect(display.tick(at: LaneDisplay.readTime) && display.view.key == "wait")
        _ = display.happened(Self.event(.paymentApproved, 9) { $0.result = Self.result(.approved) }, at: 5_000)
        #expect(display.view.phase == .approved && display.view.amount == Self.amount && display.view.cursor == 9)
        #expect(display.tick(at: 5_000 + LaneDisplay.resultTime - 1) == false)
        #expect(display.tick(at: 5_000 + LaneDisplay.resultTime) == true)
        #expect(display.view.phase == .idle && display.transaction == nil && display.view.amount == nil)
    }

    @Test(
        "M9: an approval is called by what was asked for, with its sum, also where the display learns it later",
        arguments: [
            (TransactionType.purchase, nil as AmountStatus?, nil as VerificationReason?, "approved"),
            (.purchase, .pending, nil, "approved"), (.purchase, .preauthorized, nil, "held"),
            (.refund, nil, nil, "refunded"),
            (.link, nil, nil, "approved"), (.handover, nil, nil, "approved"),
            (.verification, nil, .saveCard, "checked"),
            (.verification, nil, .lookUp, "checked"), (.verification, nil, .openTab, "checked"),
        ])
    func act(type: TransactionType, status: AmountStatus?, reason: VerificationReason?, key: String) throws {
        let amount = try #require(Self.amount)
        var request = TransactionRequest(type: type, amount: amount)
        (request.amountStatus, request.reason) = (status ?? .final, reason)
        let id = try #require(Self.sale)
        var known = Transaction(
            id: id, type: type, mode: .live, lane: "main", amount: amount, createdAt: DoorTests.now)
        known.details = TransactionDetails(request)
        let approved = Self.event(.paymentApproved) { $0.result = Self.result(.approved) }
        for isLate in [false, true] {
            var display = shown([Self.event(.readReadyForTap)])
            if isLate {
                _ = display.happened(approved, at: 0)
                #expect(display.view.key == "approved" && display.view.type == nil, "what it is nobody knows yet")
            }
            _ = display.learn(known, at: 0)
            if !isLate { _ = display.happened(approved, at: 0) }
            #expect(display.view.phase == .approved && display.view.key == key && display.view.type == type)
            #expect(display.view.amount == Self.amount && display.view.held == (key == "held" ? true : nil))
            #expect(display.view.items == nil)
        }
        var signed = shown([Self.event(.readReadyForTap)])
        _ = signed.learn(known, at: 0)
        _ = signed.happened(Self.event(.paymentApproved) { $0.message = .approvedPleaseSign }, at: 0)
        #expect(signed.view.key == "sign" && signed.view.type == type)
    }

    @Test("M9: a card is called stored once it is, and not for an approval alone")
    func stored() throws {
        let (amount, id) = (try #require(Self.amount), try #require(Self.sale))
        var known = Transaction(
            id: id, type: .verification, mode: .live, lane: "main", amount: amount, createdAt: DoorTests.now)
        known.details = TransactionDetails(TransactionRequest(type: .verification, amount: amount))
        var display = shown([Self.event(.readReadyForTap)])
        _ = display.learn(known, at: 0)
        _ = display.happened(Self.event(.paymentApproved) { $0.result = Self.result(.approved) }, at: 0)
        #expect(display.view.key == "checked")
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "476173******0010"))
        let name = try #require(StoredCardID(rawValue: "01a2037f-7168-7d2c-9e61-5263e834c585"))
        known.credential = StoredCard(
            id: name, state: .active, mode: .live, card: card, transaction: id, createdAt: DoorTests.now)
        #expect(display.learn(known, at: 0) && display.view.key == "cardSaved")
    }

    @Test(
        "R4: what the phone's holder has to do stays, however often the phone is looked at, until something else is said"
    )
    func seePhone() {
        let asked = [
            Self.event(.readReadyForTap), Self.event(.readCardDetected),
            Self.event(.readRetry) { $0.message = .seePhone },
        ]
        for more in [
            [], [Self.event(.readCardDetected)], [Self.event(.readCardDetected), Self.event(.readCardDetected)],
        ] {
            let display = shown(asked + more)
            #expect(display.view.phase == .again && display.view.key == "phone" && display.view.amount == Self.amount)
        }
        #expect(shown(asked + [Self.event(.readRetry)]).view.key == "again")
        #expect(shown(asked + [Self.event(.readRetry), Self.event(.readCardDetected)]).view.key == "hold")
        #expect(shown(asked + [Self.event(.readCardDetected), Self.event(.readCompleted)]).view.key == "read")
    }

    @Test(arguments: [
        (EventName.paymentDeclined, CustomerView.Phase.declined, "other"), (.paymentUnknown, .unknown, "unknown"),
        (.paymentReversed, .reversing, "reversing"), (.paymentStored, .stored, "stored"),
        (.readCancelled, .cancelled, "cancelled"), (.readNotCompleted, .failed, "failed"),
    ])
    func `each end has its sentence, and none of them is an approval`(
        name: EventName, phase: CustomerView.Phase, key: String
    ) {
        let display = shown([Self.event(.readReadyForTap), Self.event(name)])
        #expect(display.view.phase == phase && display.view.key == key)
        #expect(display.view.amount == (phase == .stored ? Self.amount : nil), "a sum stays with what was done only")
    }

    @Test func `only the payment's own approval is shown as one`() {
        for name in EventName.allCases where name != .paymentApproved {
            let display = shown([Self.event(.readReadyForTap), Self.event(name) { $0.result = Self.result(.approved) }])
            #expect(display.view.phase != .approved && display.view.phase != .partial, "\(name)")
        }
    }

    @Test func `a card that wants chip and PIN is told so, and never why`() {
        let display = shown([
            Self.event(.readReadyForTap),
            Self.event(.paymentDeclined) {
                $0.result = Self.result(.declined)
                $0.result?.action = .useOtherTerminal
            },
        ])
        #expect(display.view.key == "chip")
    }

    @Test func `a partial approval says what is paid and what is open`() throws {
        let euro = try #require(Currency("EUR"))
        let display = shown([
            Self.event(.readReadyForTap),
            Self.event(.paymentApproved) {
                $0.result = Self.result(.partiallyApproved)
                $0.result?.amountApproved = Money(value: 1_000, currency: euro)
            },
        ])
        #expect(display.view.phase == .partial && display.view.paid?.value == 1_000 && display.view.open?.value == 250)
    }

    @Test(arguments: [
        (CardholderMessage.presentOneCardOnly, "one"), (.seePhone, "phone"), (.insertCard, "chip"),
        (.presentCardAgain, "again"),
    ])
    func `what the card asks for is said`(message: CardholderMessage, key: String) {
        let display = shown([Self.event(.readReadyForTap), Self.event(.readRetry) { $0.message = message }])
        #expect(display.view.phase == .again && display.view.key == key && display.view.amount == Self.amount)
    }

    @Test("R4: a phone that lies there and is looked at again goes on being told to be looked at")
    func phone() {
        var display = shown([
            Self.event(.readReadyForTap), Self.event(.readRetry) { $0.message = .seePhone },
            Self.event(.readCardDetected),
        ])
        #expect(display.view.phase == .again && display.view.key == "phone")
        _ = display.happened(Self.event(.readRemoveCard), at: 0)
        #expect(display.view.phase == .processing && display.view.key == "read")
        let other = shown([Self.event(.readReadyForTap), Self.event(.readRetry), Self.event(.readCardDetected)])
        #expect(other.view.phase == .reading && other.view.key == "hold")
    }

    @Test("R1: of a ticket or a sticker its holder reads that it is no card to pay with")
    func ticket() {
        let display = shown([
            Self.event(.readReadyForTap), Self.event(.readRetry) { $0.error = ErrorDetail(.readCardUnsupported) },
        ])
        #expect(display.view.phase == .again && display.view.key == "other" && display.view.amount == Self.amount)
    }

    @Test func `a pass alone shows no amount and no payment`() {
        var display = shown([Self.event(.readReadyForTap) { $0.amount = nil }])
        #expect(display.view.key == "pass" && display.view.amount == nil)
        _ = display.happened(Self.event(.loyaltyResult), at: 0)
        #expect(display.view.phase == .processing)
        #expect(display.tick(at: LaneDisplay.readTime) && display.view.phase == .idle)
    }

    @Test func `a late word on an earlier sale does not touch the one that runs`() {
        var display = shown([Self.event(.readReadyForTap, of: Self.other)])
        #expect(display.happened(Self.event(.paymentReversed, of: Self.sale), at: 0) == false)
        #expect(display.view.phase == .ready)
    }

    @Test func `the next customer's sale takes the place of a result at once`() {
        let display = shown([
            Self.event(.readReadyForTap), Self.event(.paymentApproved) { $0.result = Self.result(.approved) },
            Self.event(.readReadyForTap, of: Self.other),
        ])
        #expect(display.view.phase == .ready && display.view.amount == Self.amount)
    }

    @Test func `without its daemon a display shows no amount, and asks for staff after a while`() {
        var display = shown([Self.event(.readReadyForTap)])
        #expect(display.lost(at: 100) && display.view.phase == .offline && display.view.amount == nil)
        #expect(display.lost(at: 200) == false)
        #expect(display.tick(at: 100 + LaneDisplay.outageTime) && display.view.key == "staff")
        #expect(display.found(.ready, .live, at: 9_000) && display.view.phase == .idle)
    }

    @Test func `a reader that is away is staff's business after half a minute`() {
        var display = shown([Self.event(.readerDetached, of: nil)])
        #expect(display.view.phase == .notReady && display.view.key == "notReady")
        #expect(display.tick(at: LaneDisplay.readerTime) && display.view.key == "staff")
        _ = display.happened(Self.event(.readerAttached, of: nil), at: 0)
        #expect(display.view.phase == .idle)
    }

    @Test func `items, payee and language come from the sale that is shown, and from no other`() throws {
        let amount = try #require(Self.amount)
        var request = TransactionRequest(type: .purchase, amount: amount)
        request.items = [Item(label: "Coffee", amount: amount)]
        request.amountStatus = .pending
        request.language = "de"
        let id = try #require(Self.sale)
        var known = Transaction(
            id: id, type: .purchase, mode: .live, lane: "main", amount: amount, createdAt: DoorTests.now)
        known.details = TransactionDetails(
            request, merchant: Merchant(displayName: "Collector", onBehalfOf: "End"))
        var display = shown([Self.event(.readReadyForTap)])
        #expect(display.learn(known, at: 0) == true)
        #expect(display.view.items?.first?.label == "Coffee" && display.view.pending == true)
        #expect(display.view.payee == "End" && display.view.through == "Collector")
        #expect(display.view.type == .purchase && display.view.language == "de")
        var next = shown([Self.event(.readReadyForTap, of: Self.other)])
        #expect((next.learn(known, at: 0) == false) && next.view.payee == nil)
    }

    @Test func `a display says that no money moves before its first sale, after each, and while the daemon is away`() {
        var display = LaneDisplay(lane: "main", mode: .test)
        #expect(display.view.phase == .idle && display.view.test == true)
        _ = display.happened(Self.event(.readReadyForTap) { $0.mode = .test }, at: 0)
        _ = display.happened(
            Self.event(.paymentApproved) { ($0.mode, $0.result) = (.test, Self.result(.approved)) }, at: 0)
        #expect(display.tick(at: LaneDisplay.resultTime) && display.view.phase == .idle && display.view.test == true)
        #expect(display.lost(at: 0) && display.view.test == true)
        // A lane whose daemon came back in live mode.
        #expect(display.found(.ready, .live, at: 0) && display.view.test == nil)
    }

    @Test func `whatever happens, nothing of the card, no reason and no id reaches the customer`() throws {
        let allowed: Set = [
            "cursor", "lane", "phase", "key", "amount", "paid", "open", "type", "items", "pending", "payee", "through",
            "qr", "receiptWord",
            "language", "test",
        ]
        for seed in UInt64(0)..<60 {
            var generator = SeededGenerator(seed: seed)
            var display = LaneDisplay(lane: "main")
            for number in 0..<40 {
                let name = EventName.allCases.randomElement(using: &generator) ?? .eventsMissed
                let id = Bool.random(using: &generator) ? Self.sale : Self.other
                let event = Self.event(name, UInt64(number), of: id) {
                    $0.card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010")
                    $0.result = Self.result(
                        [.approved, .declined, .partiallyApproved].randomElement(using: &generator) ?? .unknown)
                    $0.result?.receiptURL = "https://receipts.example/\(id?.text ?? "")"
                    $0.error = ErrorDetail(.readCardUnsupported, transaction: id)
                }
                _ = display.happened(event, at: Int64(number) * 700)
                _ = display.tick(at: Int64(number) * 700)
                if let id { _ = display.offer(word: "w\(number)", of: id, "bar-1", at: Int64(number) * 700) }
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let opened = Self.event(.linkOpened, UInt64(number), of: id) {
                        $0.link = OpenLink(
                            url: "https://pay.example/\(id?.text ?? "")",
                            expiresAt: DoorTests.now.advanced(bySeconds: 5))
                    }
                    _ = display.opened(opened, code: "data:image/svg+xml,x", at: Int64(number) * 700)
                }
                let text = String(decoding: try WireJSON.encode(display.view), as: UTF8.self)
                for word in [
                    "0010", "Visa", "insufficient", "01a2037f", "A1B2C3", "receipts.example", "pay.example",
                    "unsupported", "\"05\"",
                ] {
                    #expect(!text.contains(word), "\(word) in \(text)")
                }
                let members = text.matches(of: /[{,]"([a-zA-Z]+)":/).map { String($0.output.1) }
                #expect(allowed.union(["value", "currency"]).isSuperset(of: members))
                // A sum stays with what was done, and with nothing else.
                let wasDone = display.view.phase == .approved || display.view.phase == .stored
                #expect(!display.view.phase.isResult || wasDone || display.view.amount == nil)
            }
        }
    }
}
