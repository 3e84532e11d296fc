// SPDX-License-Identifier: Apache-2.0
/// A user interface request: what the reader asks to be shown (EMV Contactless Book A §8.3; DF8116 of kernel 2).
public struct UIRequest: Equatable, Sendable {
    /// Message identifier. The ids are fixed, the wording is the terminal's.
    public enum Message: UInt8, Sendable, CaseIterable {
        case approved = 0x03
        case notAuthorised = 0x07
        case enterPIN = 0x09
        case processingError = 0x0F
        case removeCard = 0x10
        case welcome = 0x14
        case presentCard = 0x15
        case processing = 0x16
        case cardReadOK = 0x17
        case insertOrSwipe = 0x18
        case presentOneCardOnly = 0x19
        case approvedPleaseSign = 0x1A
        case authorising = 0x1B
        case insertSwipeOrTryAnotherCard = 0x1C
        case insertCard = 0x1D
        case clearDisplay = 0x1E
        case seePhone = 0x20
        case presentCardAgain = 0x21
        case none = 0xFF
    }

    public enum Status: UInt8, Sendable, CaseIterable {
        case notReady = 0x00
        case idle = 0x01
        case readyToRead = 0x02
        case processing = 0x03
        /// The moment to beep and light; it says nothing about approval.
        case cardReadSuccessfully = 0x04
        case processingError = 0x05
        case none = 0xFF
    }

    /// An amount or a balance to show. The coding of the qualifier is unverified.
    public struct Value: Equatable, Sendable {
        public enum Qualifier: UInt8, Sendable {
            case amount = 0x10
            case balance = 0x20
        }

        public var qualifier: Qualifier
        /// n12, six bytes BCD, minor units.
        public var amount: [UInt8]
        /// ISO 4217 numeric code in two bytes BCD; empty where unknown.
        public var currency: [UInt8]

        public init(qualifier: Qualifier, amount: [UInt8], currency: [UInt8]) {
            self.qualifier = qualifier
            self.amount = amount
            self.currency = currency
        }
    }

    public var message: Message
    public var status: Status
    /// How long the message stays before another one may replace it, in units of 100 ms (n6: 0…999,999).
    public var holdTime: UInt32
    /// ISO 639-1 codes in ASCII, up to four (5F2D of the card); empty where the card has no wish.
    public var languagePreference: [UInt8]
    public var value: Value?

    public init(
        _ message: Message, _ status: Status, holdTime: UInt32 = 0, languagePreference: [UInt8] = [],
        value: Value? = nil
    ) {
        self.message = message
        self.status = status
        self.holdTime = holdTime
        self.languagePreference = languagePreference
        self.value = value
    }

    /// The hold time in milliseconds.
    public var holdMilliseconds: UInt64 { UInt64(holdTime) * 100 }
}
