// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A data object of a card in software.
public typealias CardObject = (tag: Tag, value: [UInt8])

/// What an application holds fixed: its name, what SELECT tells, and its records.
public struct ApplicationFiles: Sendable {
    /// Which record: short file identifier 1…30 and record number 1…255.
    public struct RecordName: Hashable, Sendable {
        public let file: UInt8
        public let number: UInt8

        public init(_ file: UInt8, _ number: UInt8) {
            self.file = file
            self.number = number
        }
    }

    /// DF name (84), 5…16 bytes.
    public var name: [UInt8]
    /// The objects of template A5 in their order: 50, 87, 9F38, 5F2D …
    public var proprietary: [CardObject]
    /// What READ RECORD returns, template 70 included.
    public var records: [RecordName: [UInt8]]

    public init(
        name: [UInt8], proprietary: [CardObject] = [], records: [RecordName: [UInt8]] = [:]
    ) {
        self.name = name
        self.proprietary = proprietary
        self.records = records
    }

    /// The PDOL (9F38); empty where there is none.
    public var pdol: DOL { (try? DOL(proprietary.first { $0.tag == 0x9F38 }?.value ?? [])) ?? DOL(entries: []) }

    /// The FCI that SELECT returns (EMV Book 1 §11.3.4): `6F { 84, A5 { … } }`.
    public var fci: [UInt8] {
        var writer = TLVWriter()
        writer.append(0x6F) { fci in
            fci.append(0x84, name)
            fci.append(0xA5) { template in
                for object in proprietary { template.append(object.tag, object.value) }
            }
        }
        return writer.bytes
    }

    /// Writes a record: template 70 around `objects`.
    public mutating func setRecord(_ name: RecordName, _ objects: [CardObject]) {
        var writer = TLVWriter()
        writer.append(0x70, ApplicationFiles.encoded(objects))
        records[name] = writer.bytes
    }

    /// The objects as BER-TLV, one after the other.
    public static func encoded(_ objects: [CardObject]) -> [UInt8] {
        var writer = TLVWriter()
        for object in objects { writer.append(object.tag, object.value) }
        return writer.bytes
    }
}
