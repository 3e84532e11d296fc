// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import FuzzSupport
import Glibc
import Loyalty

/// Inputs to begin with: what the phones and tags in software answer.
enum WalletSeeds {
    static func write(to folder: String) {
        guard let request = Programmes.request else { exit(1) }
        for name in WalletCatalogue.names {
            guard var card = WalletCatalogue.card(named: name) else { continue }
            var read = LoyaltyRead(request)
            let answers = answers(of: &card, to: &read)
            Fuzzer.write(
                AnswerScript.input(target: [WalletTargets.read], answers), to: folder, named: "\(name)-read")
            Fuzzer.write(AnswerScript.input(target: [1], answers), to: folder, named: "\(name)-smart-tap")
            for (index, answer) in answers.enumerated() {
                for target in WalletTargets.parsers {
                    Fuzzer.write([target] + answer.data, to: folder, named: "\(name)-\(target)-\(index)")
                }
            }
        }
        for name in WalletCatalogue.names + ["visa", "mastercard"] { writeCombined(name, to: folder) }
    }

    /// What a phone that can also pay, or a plain card, answers to both parts of a tap.
    private static func writeCombined(_ name: String, to folder: String) {
        guard let request = Programmes.combined, var card = CardCatalogue.card(named: name) else { exit(1) }
        var read = LoyaltyRead(request)
        var payment = CombinedTarget.entryPoint
        let answers = answers(of: &card, to: &read) + answers(of: &card, to: &payment)
        Fuzzer.write(
            AnswerScript.input(target: [WalletTargets.combined], answers), to: folder, named: "\(name)-combined")
    }

    private static func answers<Machine: TapMachine & ~Copyable>(
        of card: inout any VirtualCard, to machine: inout Machine
    ) -> [ResponseAPDU] {
        let now = TapInstant(nanoseconds: 0)
        var answers: [ResponseAPDU] = []
        var step = machine.start(now: now)
        while answers.count < 60 {
            switch step.action {
            case .finished: return answers
            case .activate:
                card.powerOn()
                step = machine.activated(card.activation, now: now)
            case .transmit(let command):
                guard let answer = response(card.answer(command.bytes)) else {
                    step = machine.cardLost(now: now)
                    continue
                }
                answers.append(answer)
                step = machine.received(answer, now: now)
            }
        }
        return answers
    }

    private static func response(_ reply: VirtualCardReply) -> ResponseAPDU? {
        switch reply {
        case .answer(let bytes), .late(let bytes, _): try? ResponseAPDU(bytes)
        case .gone: nil
        }
    }
}
