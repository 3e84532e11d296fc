// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What one application of a card says of itself to anybody who asks: FCI, processing options and records.
public struct InspectedApplication: Equatable, Sendable {
    /// Where the reading of this application stopped.
    public enum End: Equatable, Sendable {
        case complete
        /// SELECT was answered with another status word than 9000.
        case notSelected(StatusWord)
        /// GET PROCESSING OPTIONS was answered with another status word than 9000; FCI data is there.
        case notProcessed(StatusWord)
        /// An answer was no BER-TLV or its AFL makes no sense; what came before is there.
        case malformed
        /// The card left the field.
        case torn
    }

    public let adfName: [UInt8]
    /// Application Priority Indicator (87) of the directory; 0 where absent.
    public let priority: UInt8
    /// Every primitive object in the order it was sent. Holds the card number: mask before showing.
    public internal(set) var objects: [DataObject] = []
    public internal(set) var end: End = .torn

    init(_ entry: PPSEEntry) {
        adfName = entry.adfName
        priority = entry.priority
        if let label = entry.label { objects.append(DataObject(.applicationLabel, label)) }
    }
}

extension InspectedApplication: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "AID \(Hex.string(adfName)), \(objects.count) objects" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
