// SPDX-License-Identifier: Apache-2.0
/// What the bits of a value say.
struct BitTable: Sendable {
    /// One bit, or one value of a group of bits.
    struct Field: Sendable {
        /// From 1, as the specifications count.
        let byte: Int
        let mask: UInt8
        let value: UInt8
        let text: String
    }

    let fields: [Field]

    init(_ bytes: [Field]...) { fields = bytes.flatMap { $0 } }

    init(fields: [Field]) { self.fields = fields }

    /// Names of bits 8…1 of one byte; `nil` for a bit that is reserved or part of a group.
    static func bits(_ byte: Int, _ names: String?...) -> [Field] {
        names.enumerated().compactMap { position, name in
            let mask: UInt8 = position < 8 ? 0x80 >> UInt8(position) : 0
            return name.map { Field(byte: byte, mask: mask, value: mask, text: $0) }
        }
    }

    /// Values of a group of bits.
    static func group(_ byte: Int, _ mask: UInt8, _ values: KeyValuePairs<UInt8, String>) -> [Field] {
        values.map { Field(byte: byte, mask: mask, value: $0.key, text: $0.value) }
    }

    /// The same table for a value that starts `count` bytes further on.
    func moved(by count: Int) -> BitTable {
        BitTable(
            fields: fields.map { Field(byte: $0.byte + count, mask: $0.mask, value: $0.value, text: $0.text) })
    }

    /// What is set in `value`, byte by byte and from bit 8 down; bits without a meaning are named as reserved.
    func meanings(_ value: [UInt8], in range: Range<Int>? = nil) -> [Meaning] {
        var meanings: [Meaning] = []
        for index in (range ?? 0..<value.count).clamped(to: 0..<value.count) {
            let byte = value[index]
            let own = fields.filter { $0.byte == index + 1 }
            for field in own.filter({ byte & $0.mask == $0.value }).sorted(by: { $0.mask > $1.mask }) {
                meanings.append(Meaning(BitTable.place(field.byte, field.mask), field.text))
            }
            let unnamed = byte & ~own.reduce(0) { $0 | $1.mask }
            for bit in UInt8(0)..<8 where unnamed & 0x80 >> bit != 0 {
                meanings.append(Meaning(BitTable.place(index + 1, 0x80 >> bit), "reserved"))
            }
        }
        return meanings
    }

    static func place(_ byte: Int, _ mask: UInt8) -> String {
        let high = 8 - mask.leadingZeroBitCount
        let low = mask.trailingZeroBitCount + 1
        return high == low ? "byte \(byte) bit \(high)" : "byte \(byte) bits \(high)-\(low)"
    }
}
