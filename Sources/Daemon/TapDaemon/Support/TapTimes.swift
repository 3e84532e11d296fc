// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TapSession

/// The phases of a tap, each from the end of the one before.
enum TapPhase: String, CaseIterable, Sendable {
    /// From arming to the card's first answer: mostly the customer.
    case detect
    /// To the answer to SELECT PPSE.
    case ppse
    /// To the answer to GET PROCESSING OPTIONS.
    case gpo
    /// To the kernel's outcome: records, cryptogram, offline authentication.
    case records
    /// To the closed envelope.
    case sealed
    /// To the request on its way: connection, journal.
    case sent
    /// To the payment service's answer.
    case answered
}

extension TapPhases {
    /// Seconds of each phase that there was, on the reader's side.
    var seconds: [(TapPhase, Double)] {
        var last = armed
        var all: [(TapPhase, Double)] = []
        for (phase, end) in [
            (TapPhase.detect, cardDetected), (.ppse, directoryRead), (.gpo, optionsRead), (.records, cardRead),
            (.sealed, sealed),
        ] {
            guard let end, end >= last else { continue }
            all.append((phase, end.seconds(since: last)))
            last = end
        }
        return all
    }
}

extension TapInstant {
    func seconds(since earlier: TapInstant) -> Double { Double(nanoseconds(since: earlier)) / 1_000_000_000 }
}
