import CardBytes
import CardSim
import FuzzSupport
import Glibc
import Loyalty

/// Inputs to begin with: what the phones and tags in software answer.
enum WalletSeeds {
    static func write(to folder: String) {
        guard let request = Programmes.request else { exit(1) }
        for name in WalletCatalogue.names {
            let answers = answers(of: name, request)
            Fuzzer.write(
                AnswerScript.input(target: [WalletTargets.read], answers), to: folder, named: "\(name)-read")
            Fuzzer.write(AnswerScript.input(target: [1], answers), to: folder, named: "\(name)-smart-tap")
            for (index, answer) in answers.enumerated() {
                for target in WalletTargets.parsers {
                    Fuzzer.write([target] + answer.data, to: folder, named: "\(name)-\(target)-\(index)")
                }
            }
        }
    }

    private static func answers(of name: String, _ request: LoyaltyRequest) -> [ResponseAPDU] {
        guard var card = WalletCatalogue.card(named: name) else { return [] }
        let now = TapInstant(nanoseconds: 0)
        var answers: [ResponseAPDU] = []
        var machine = LoyaltyRead(request)
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
