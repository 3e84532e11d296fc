// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV

/// The data objects that may leave this machine outside the envelope. A value of this type holds nothing else: the only
/// way to make one is through the list of `ClearTags`.
///
/// Never on the list: 57, 5A, 56, 5F20, 5F24, 9F0B, 9F1F, 9F20, 9F6B, 9F24 (account data and account references), 99
/// (PIN block), and 9F46: with the issuer's public key anybody recovers the PAN from that certificate (EMV Book 2 §6.4).
public struct ClearDataObjects: Equatable, Sendable {
    /// In the order of the record, each tag once.
    public let objects: [DataObject]

    /// Keeps the allowed objects of `record`; of a tag that occurs twice, the first.
    ///
    /// An allowed object is still left out when its value spells the card's number: 9F7C and 50 are what the card's
    /// issuer makes of them.
    public init(of record: [DataObject]) {
        let account = AccountData(record)
        var seen: Set<Tag> = []
        objects = record.filter { object in
            ClearTags.contains(object.tag) && seen.insert(object.tag).inserted
                && !account.isSpelled(in: object.value)
        }
    }

    /// BER-TLV in upper-case hexadecimal: `82021980…`.
    public var hex: String { Hex.string(objects.encoded) }

    /// The value of `tag`, where it is there.
    public func value(of tag: Tag) -> [UInt8]? { objects.value(of: tag) }
}

extension ClearDataObjects: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(objects.count) clear data objects" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
