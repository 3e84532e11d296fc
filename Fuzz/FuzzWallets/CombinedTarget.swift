// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import FuzzSupport
import Glibc
import Loyalty

/// Passes and the payment that follows, both on what one hostile phone answers.
enum CombinedTarget {
    static func run(_ script: AnswerScript, on phone: CardActivation) {
        guard let request = Programmes.combined else { abort() }
        var script = script
        var read = LoyaltyRead(request)
        let outcome = play(&read, &script, card: phone, observe: CombinedTarget.mustBeLoyalty)
        let combination = CombinedTap(stopOnPass: false)
        switch combination.next(after: outcome) {
        case .end(.both), .end(.paymentOnly): abort()
        case .end(.passOnly): if !outcome.hasPass { abort() }
        case .end(.nothing): if outcome.hasPass { abort() }
        case .pay(let readiness):
            // A phone that is to leave the field first comes back as whatever it likes; so does any other.
            let card = readiness == .sameActivation ? outcome.card ?? phone : phone
            var payment = entryPoint
            let final = play(&payment, &script, card: card)
            let result = combination.result(hasPass: outcome.hasPass, hasPayment: final.account != nil)
            if outcome.hasPass, result != .both, result != .passOnly { abort() }
        }
    }

    static var entryPoint: EntryPoint {
        EntryPoint(
            configuration: .test,
            transaction: Transaction(
                amount: 1_250, currency: 978, exponent: 2, country: 276,
                date: EMVDate(year: 2026, month: 1, day: 15), time: EMVTime(hour: 12, minute: 0, second: 0),
                sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x0102_0304]),
            authentication: OfflineAuthentication(
                hasKey: { _, _ in true }, verify: { _ in .failed(.signatureHash) }))
    }

    /// Wallets and the NDEF application are all that a read of passes may select by name.
    static func mustBeLoyalty(_ command: CommandAPDU) {
        guard command.ins == 0xA4, command.p1 == 0x04 else { return }
        let allowed: [[UInt8]] = [
            Array("OSE.VAS.01".utf8), [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11],
            [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01],
        ]
        if !allowed.contains(Array(command.data)) { abort() }
    }
}
