// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Why a read's data objects cannot become field 55.
public enum ChipDataError: Error, Equatable, Sendable {
    case notTLV(TLVError)
    case twice(Tag)
    case missing(Tag)
    case tooLong(count: Int, most: Int)
    /// Hexadecimal text in place of bytes: write `"encoding": "hex"` for field 55 into the packager.
    case hexadecimal
}

/// Field 55 of a request: values byte for byte as the card and the terminal made the cryptogram over them, in the order of the
/// packager's list, and nothing that is not on it.
public struct ChipData: Equatable, Sendable {
    public let bytes: [UInt8]
    /// What was left out because the whole was too long for the host.
    public let dropped: [Tag]

    /// Of a payment or an advice.
    public init(_ emv: [UInt8], _ scheme: ChipRules.Scheme, _ rules: ChipRules) throws(ChipDataError) {
        let objects = try Self.objects(emv)
        for tag in rules.required where objects[tag] == nil { throw .missing(tag) }
        var order = rules.required
        for tag in rules.optional + (rules.schemes[scheme] ?? []) where !order.contains(tag) { order.append(tag) }
        self = try ChipData(objects, order, rules)
    }

    /// Of a reversal, made when the payment is: without the cryptogram.
    public static func ofReversal(_ emv: [UInt8], _ rules: ChipRules) throws(ChipDataError) -> ChipData {
        try ChipData(objects(emv), rules.reversal, rules)
    }

    private init(_ objects: [Tag: [UInt8]], _ order: [Tag], _ rules: ChipRules) throws(ChipDataError) {
        var order = order
        var dropped: [Tag] = []
        var bytes = Self.write(objects, order)
        for tag in rules.expendable where bytes.count > rules.most && objects[tag] != nil && order.contains(tag) {
            order.removeAll { $0 == tag }
            dropped.append(tag)
            bytes = Self.write(objects, order)
        }
        guard bytes.count <= rules.most else { throw .tooLong(count: bytes.count, most: rules.most) }
        self.bytes = bytes
        self.dropped = dropped
    }

    private static func write(_ objects: [Tag: [UInt8]], _ order: [Tag]) -> [UInt8] {
        var writer = TLVWriter()
        for tag in order {
            if let value = objects[tag] { writer.append(tag, value) }
        }
        return writer.bytes
    }

    static func objects(_ emv: [UInt8]) throws(ChipDataError) -> [Tag: [UInt8]] {
        var objects: [Tag: [UInt8]] = [:]
        let nodes: [TLVNode]
        do { nodes = try TLV.children(emv) } catch { throw .notTLV(error) }
        for node in nodes {
            guard objects.updateValue(Array(emv[node.value]), forKey: node.tag) == nil else { throw .twice(node.tag) }
        }
        return objects
    }
}

extension ChipData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<\(bytes.count) bytes of chip data>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Field 55 of an answer: what goes back to the card.
public struct IssuerAnswer: Equatable, Sendable {
    /// Tag 91, eight to sixteen bytes.
    public let authenticationData: [UInt8]?
    /// Tags 71 and 72, tag and length included, in their order.
    public let scripts: [[UInt8]]

    public init(_ bytes: [UInt8]) throws(ChipDataError) {
        // Text that happens to be well-formed has none of the tags below, and would be taken without a word.
        guard bytes.isEmpty || !bytes.allSatisfy(Self.isHexadecimal) else { throw .hexadecimal }
        let nodes: [TLVNode]
        do { nodes = try TLV.children(bytes) } catch { throw .notTLV(error) }
        let data = nodes.filter { $0.tag == 0x91 }
        guard data.count <= 1 else { throw .twice(0x91) }
        authenticationData = data.first.map { Array(bytes[$0.value]) }
        if let count = authenticationData?.count, !(8...16).contains(count) { throw .tooLong(count: count, most: 16) }
        scripts = nodes.filter { $0.tag == 0x71 || $0.tag == 0x72 }.map { Array(bytes[$0.start..<$0.end]) }
    }

    /// A digit as ASCII has it, or A to F in either case.
    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}
