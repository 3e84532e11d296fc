// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore

/// How long pcscd may take for calls that do not depend on a card, and for one that powers a card up.
enum CallLimit: UInt64 {
    /// Lists, contexts, states: answered from memory.
    case service = 5_000
    /// Connecting: power-up and activation of the card, or another program's transaction that does not end.
    case connect = 3_000
    /// Power-down, or another program's transaction that does not end.
    case disconnect = 2_000
    /// A lamp or a buzzer; some readers answer when the last tone is over.
    case indicator = 1_500
}

extension CallGuard {
    func run<Value: ~Copyable>(
        within limit: CallLimit, severing link: ServiceLink, _ call: () throws(PCSCFailure) -> Value
    ) throws(PCSCFailure) -> Value {
        try run(
            until: monotonicNow().advanced(byMilliseconds: limit.rawValue), sever: { link.sever() }, call)
    }
}
