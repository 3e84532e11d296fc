// SPDX-License-Identifier: Apache-2.0

/// One vend that a machine has asked for.
public struct MDBSale: Equatable, Codable, Sendable {
    public enum Phase: String, Codable, Sendable, CaseIterable {
        /// A card is waited for, or the payment service.
        case asked
        /// Approved; whether the machine knows is not certain. Until it does the money goes back where anything happens.
        case approved
        /// The machine has acknowledged the approval: no failure heard is sold.
        case told
        /// Confirmed. A failure that is heard later is reversed all the same.
        case sold
    }

    /// Never given out twice.
    public let number: UInt64
    /// In minor units.
    public let amount: Int64
    /// As the machine wrote it.
    public let value: UInt32
    public let item: UInt16
    public internal(set) var phase: Phase = .asked
}

/// What a peripheral asks of its host. Effects are carried out in order; what is recorded is on disk before any effect behind it.
public enum MDBEffect: Equatable, Sendable {
    /// To be begun within `MDBLine.answerTime` of the word that asked for it, or left out.
    case send([UInt16])
    /// `nil` once nothing more can happen to it.
    case record(MDBSale?)
    /// A purchase that nobody has to confirm within fewer seconds than the machine may take: `confirmWithin` of the request.
    case start(MDBSale, confirmWithin: Int)
    /// The sum is to be taken of what the session holds.
    case ask(MDBSale)
    /// Nobody wants it any more. Where that is too late, what is approved goes back.
    case cancel(UInt64)
    /// The goods are out.
    case confirm(UInt64)
    /// `reversed` or `notReversed` follows.
    case reverse(UInt64)
    /// The session has ended, and holds whatever of its sum was not taken.
    case release
    /// A timer that is armed again begins anew.
    case arm(MDBTimer, milliseconds: Int64)
}

public enum MDBTimer: Hashable, Sendable {
    /// The approval has to come, and to be heard.
    case response(UInt64)
    /// The machine has to say what became of the goods.
    case vend(UInt64)
}

/// What happens to a peripheral besides words on its line.
public enum MDBInput: Equatable, Sendable {
    /// Once, before anything else: what was recorded last.
    case restored(MDBSale?)
    /// Nothing has come within `MDBLine.answerTime` of a block that was sent.
    case silence
    /// The line was held down for 100 ms and more: every peripheral is reset.
    case lineReset
    /// A card was presented, and this sum is held, in minor units; `nil` where it is not told to the machine.
    case tapped(Int64?)
    /// The session ends: no choice was made in time.
    case sessionOver
    case approved(UInt64)
    case denied(UInt64)
    case reversed(UInt64)
    case notReversed(UInt64)
    case timer(MDBTimer)
}
