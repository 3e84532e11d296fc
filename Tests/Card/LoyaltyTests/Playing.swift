// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Codes
import Loyalty
import Testing

/// What a machine did with a card.
struct Played<Outcome: Sendable>: Sendable {
    var outcome: Outcome
    var commands: [CommandAPDU] = []
    var signals: [LoyaltySignal] = []
    /// Milliseconds of each activation's field off.
    var activations: [UInt64] = []
    /// From the first activation to the end.
    var milliseconds: UInt64 = 0
}

/// What is done to one answer of a card.
struct Disturbance: Sendable {
    enum Kind: Sendable {
        case lost
        case answer([UInt8])
        case change(@Sendable (ResponseAPDU) -> ResponseAPDU)
    }

    /// Which answer, counted from 0 over all activations.
    var step: Int
    /// Also all that follow.
    var isLasting = false
    var kind: Kind

    func applies(to index: Int) -> Bool { index == step || (isLasting && index > step) }
}

/// Runs `machine` on `card` as the tap loop does. Fails the test where it does not end, and for any command that
/// selects something else than a loyalty application; a card with a fixed identifier may be asked whether it can pay.
func play<Machine: TapMachine & ~Copyable>(
    _ machine: inout Machine, on card: inout any VirtualCard, disturbing disturbance: Disturbance? = nil,
    location: SourceLocation = #_sourceLocation
) -> Played<Machine.Outcome> where Machine.Signal == LoyaltySignal {
    var milliseconds: UInt64 = 0
    func now() -> TapInstant {
        milliseconds += 1
        return TapInstant(nanoseconds: milliseconds * 1_000_000)
    }
    var commands: [CommandAPDU] = []
    var signals: [LoyaltySignal] = []
    var activations: [UInt64] = []
    var step = machine.start(now: now())
    for _ in 0..<5_000 {
        signals += step.signals
        switch step.action {
        case .activate(let off):
            activations.append(off)
            // What a reader takes for an activation is some milliseconds, and they are no person's.
            milliseconds += off
            card.powerOn()
            step = machine.activated(card.activation, now: now())
        case .transmit(let command):
            let index = commands.count
            commands.append(command)
            expectNoPayment(command, of: card.activation, location: location)
            if let response = answer(card.answer(command.bytes), index: index, disturbance) {
                step = machine.received(response, now: now())
            } else {
                step = machine.cardLost(now: now())
            }
        case .finished(let outcome):
            return Played(
                outcome: outcome, commands: commands, signals: signals, activations: activations,
                milliseconds: milliseconds)
        }
    }
    Issue.record("the machine does not end", sourceLocation: location)
    return Played(
        outcome: machine.stop(now: now()), commands: commands, signals: signals, activations: activations,
        milliseconds: milliseconds)
}

private func answer(_ reply: VirtualCardReply, index: Int, _ disturbance: Disturbance?) -> ResponseAPDU? {
    let bytes: [UInt8]
    switch reply {
    case .answer(let answer), .late(let answer, _): bytes = answer
    case .gone: return nil
    }
    guard let response = try? ResponseAPDU(bytes) else { return nil }
    guard let disturbance, disturbance.applies(to: index) else { return response }
    switch disturbance.kind {
    case .lost: return nil
    case .answer(let bytes): return try? ResponseAPDU(bytes)
    case .change(let change): return change(response)
    }
}

/// SELECT by name may name OSE.VAS.01, Smart Tap and the NDEF application, nothing else.
private func expectNoPayment(_ command: CommandAPDU, of card: CardActivation, location: SourceLocation) {
    guard command.ins == 0xA4, command.p1 == 0x04 else { return }
    var loyalty = [OSE.name, SmartTap.application, Type4Read.application]
    // Whether it can pay, of a card whose identifier may be a member number. No phone has such a one.
    if card.uid.first != 0x08 {
        loyalty += [Array("2PAY.SYS.DDF01".utf8)] + PaymentNetwork.providersWithKernel
    }
    #expect(loyalty.contains(command.data), "selects \(Hex.string(command.data))", sourceLocation: location)
}

/// Feeds the answers of a transcript to a machine and compares the commands, each activation as the transcript goes.
func replay<Machine: TapMachine & ~Copyable>(
    _ machine: inout Machine, _ exchanges: [LoyaltyVector.Exchange], location: SourceLocation = #_sourceLocation
) -> Machine.Outcome? where Machine.Signal == LoyaltySignal {
    let now = TapInstant(nanoseconds: 0)
    var rest = exchanges[...]
    var step = machine.start(now: now)
    while true {
        switch step.action {
        case .activate:
            step = machine.activated(CardActivation(technology: .typeA, uid: [0x08, 1, 2, 3], sak: 0x20), now: now)
        case .transmit(let command):
            guard let exchange = rest.popFirst() else {
                Issue.record("more commands than the transcript has", sourceLocation: location)
                return nil
            }
            #expect(command.bytes == exchange.command, sourceLocation: location)
            guard let response = try? ResponseAPDU(exchange.response) else { return nil }
            step = machine.received(response, now: now)
        case .finished(let outcome):
            let unused = rest.count { !$0.response.isEmpty }
            #expect(unused == 0, "unused exchanges", sourceLocation: location)
            return outcome
        }
    }
}

/// The programmes for which the phones in `WalletCatalogue` have passes.
enum Shop {
    static func key(_ scalar: [UInt8]) throws -> P256PrivateKey { try P256PrivateKey(SecretBytes(scalar)) }

    static func merchant(
        _ passType: String, _ scalar: [UInt8]?, wish: VASMerchant.Request = .pass
    ) throws -> VASMerchant {
        try VASMerchant(passTypeIdentifier: passType, wish: wish, keys: scalar.map { [VASKey(try key($0))] } ?? [])
    }

    static func collector(
        services: [SmartTapService] = [.loyalty], acceptsUnencrypted: Bool = false
    ) throws -> SmartTapCollector {
        try SmartTapCollector(
            id: WalletTestKeys.collectorID,
            keys: [
                SmartTapKey(version: 1, privateKey: key(WalletTestKeys.collectorPrivateKeyVersion1)),
                SmartTapKey(version: 2, privateKey: key(WalletTestKeys.collectorPrivateKeyVersion2)),
            ], services: services, acceptsUnencrypted: acceptsUnencrypted)
    }

    static func club(
        wish: VASMerchant.Request = .pass, isSealed: Bool = false, reread: UInt64 = 0
    ) throws -> LoyaltyProgramme {
        try LoyaltyProgramme(
            id: "club", displayName: "Example Club", priority: 1, rereadDelayMilliseconds: reread,
            apple: merchant(
                WalletTestKeys.clubPassType, isSealed ? nil : WalletTestKeys.clubPrivateKey, wish: wish),
            google: collector(), tag: .uri(prefix: "https://loyalty.example/m/"), uid: UIDMembership())
    }

    static func gift() throws -> LoyaltyProgramme {
        try LoyaltyProgramme(
            id: "gift", displayName: "Gift card", priority: 2,
            apple: merchant(WalletTestKeys.giftPassType, WalletTestKeys.giftPrivateKey))
    }

    static func request(
        _ programmes: [LoyaltyProgramme]? = nil, purpose: LoyaltyRequest.Purpose = .passes,
        timestamps: TimestampPolicy? = nil, presentations: Int = 5
    ) throws -> LoyaltyRequest {
        try LoyaltyRequest(
            programmes: programmes ?? [club(), gift()], purpose: purpose, entropy: .fixed(secrets()),
            timestamps: timestamps, maximumPresentations: presentations)
    }

    static func secrets() throws -> SmartTapSessionSecrets {
        try #require(
            SmartTapSessionSecrets(
                ephemeralKey: key(WalletTestKeys.giftPrivateKey), readerNonce: [UInt8](repeating: 0x5A, count: 32),
                sessionID: [1, 2, 3, 4, 5, 6, 7, 8]))
    }

    static func card(_ name: String, payment: (any VirtualCard)? = nil) throws -> any VirtualCard {
        try #require(WalletCatalogue.card(named: name, payment: payment), "no card \(name)")
    }

    static func read(
        _ name: String, _ request: LoyaltyRequest, disturbing disturbance: Disturbance? = nil,
        payment: (any VirtualCard)? = nil
    ) throws -> Played<LoyaltyOutcome> {
        var card = try card(name, payment: payment)
        var machine = LoyaltyRead(request)
        return play(&machine, on: &card, disturbing: disturbance)
    }
}
