// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One pass, or the record of the wallet's owner, out of a Smart Tap bundle.
public struct SmartTapObject: Sendable {
    /// The record's name.
    public enum Kind: String, Sendable, CaseIterable {
        case loyalty = "ly"
        case offer = "of"
        case giftCard = "gc"
        case privateLabel = "pl"
        case eventTicket = "et"
        case flight = "fl"
        case transit = "tr"
        case generic = "gr"
        case genericPrivate = "gp"
        case customer = "cus"
    }

    /// The parts of an object that are understood; their names are the record's.
    public enum Field: String, Sendable, CaseIterable {
        /// 8 bytes.
        case objectID = "oid"
        /// The member, card or ticket number.
        case number = "n"
        case pin = "p"
        case track1 = "tr1"
        case track2 = "tr2"
        /// 16 bytes, one for each collector and user.
        case customerID = "cid"
        case language = "cpl"
        /// 16 bytes, another one in every tap.
        case tapID = "cut"
        case deviceID = "cud"
    }

    public struct Value: Sendable {
        public let field: Field
        /// UTF-8 for text and digits, as transmitted for binary values.
        public let bytes: SecretBytes
        /// Of a text record; empty otherwise.
        public let language: String
    }

    public let kind: Kind
    /// `nil` where the bundle does not say.
    public let issuer: SmartTapIssuer?
    public let values: [Value]

    /// The first value of `field`.
    public subscript(field: Field) -> SecretBytes? { values.first { $0.field == field }?.bytes }

    /// Whether this is a pass; the customer record is none.
    public var isPass: Bool { kind != .customer }
}

extension SmartTapObject: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Smart Tap object \(kind.rawValue), \(values.count) values>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Who issued a pass.
public struct SmartTapIssuer: Equatable, Sendable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case unspecified = 0
        case merchant = 1
        case wallet = 2
        case manufacturer = 3
    }

    public let kind: Kind
    /// 4 bytes.
    public let id: [UInt8]
}
