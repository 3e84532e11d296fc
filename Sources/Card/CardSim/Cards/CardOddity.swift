// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A deviation from what a card would do by itself.
public struct CardOddity: Sendable {
    /// The command it is about.
    public enum Occasion: Equatable, Sendable {
        case selectDirectory
        case selectApplication
        case getProcessingOptions
        case readRecord
        case generateAC
        case any
    }

    /// What happens instead.
    public enum Effect: Sendable {
        /// This status word; the command is not carried out.
        case status(StatusWord)
        /// The card leaves the field; the command is not carried out.
        case gone
        /// The command is carried out, and its R-APDU changed before it goes out.
        case rewritten(@Sendable ([UInt8]) -> [UInt8])
        /// The command is carried out, and its answer comes late.
        case late(milliseconds: UInt64)
    }

    public var occasion: Occasion
    /// Which of the commands of that kind since the card was made, counted from 1.
    public var times: ClosedRange<Int>
    public var effect: Effect

    public init(_ occasion: Occasion, times: ClosedRange<Int> = 1...Int.max, _ effect: Effect) {
        self.occasion = occasion
        self.times = times
        self.effect = effect
    }
}
