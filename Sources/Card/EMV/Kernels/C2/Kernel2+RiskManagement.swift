// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Terminal risk management beyond the floor limit, as far as the combination asks for it (EMV Book 3 §10.6).
extension Kernel2 {
    /// Reads the card's counters where velocity is to be checked and the card has both limits.
    mutating func checkVelocity() -> KernelStep {
        guard risk.checksVelocity, store.count(.lowerConsecutiveLimit) == 1, store.count(.upperConsecutiveLimit) == 1
        else { return decide() }
        state = .readingTransactionCounter
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xCA, 0x9F, 0x36)))
    }

    mutating func transactionCounterReceived(_ response: ResponseAPDU) -> KernelStep {
        transactionCounter = Kernel2.counter(.atc, response)
        state = .readingOnlineCounter
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xCA, 0x9F, 0x13)))
    }

    mutating func onlineCounterReceived(_ response: ResponseAPDU) -> KernelStep {
        lastOnlineCounter = Kernel2.counter(.lastOnlineATC, response)
        return decide()
    }

    private static func counter(_ tag: Tag, _ response: ResponseAPDU) -> UInt16? {
        guard response.status.isSuccess else { return nil }
        do throws(CardDataError) {
            let template = try ResponseTemplate(response.data)
            guard template.tag == tag, template.value.count == 2 else { return nil }
            return response.data[template.value].reduce(0) { $0 << 8 | UInt16($1) }
        } catch {
            return nil
        }
    }

    /// The TVR bits of a forced online transaction, random selection and velocity.
    mutating func riskBits() -> TVR {
        var bits: TVR = isForcedOnline ? .merchantForcedOnline : []
        if let selection = risk.randomSelection, selection.selects(amount: amount, random: numbers.next()) {
            bits.insert(.selectedAtRandom)
        }
        guard risk.checksVelocity else { return bits }
        let velocity = TerminalRiskManagement(
            amount: amount, lowerConsecutiveLimit: store.byte(.lowerConsecutiveLimit),
            upperConsecutiveLimit: store.byte(.upperConsecutiveLimit),
            transactionCounter: transactionCounter, lastOnlineCounter: lastOnlineCounter)
        return bits.union(velocity.evaluate())
    }
}
