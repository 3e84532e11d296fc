// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Bytes of a message, read from the front.
struct MessageReader {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var left: Int { bytes.count - offset }

    mutating func take(_ count: Int, _ part: MessagePart) throws(MessageError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= left else { throw .truncated(part, needed: count, have: left) }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }
}

extension FieldRule {
    // MARK: - Building

    /// The field as the host wants it, its length in front.
    func encode(_ value: [UInt8]) throws(MessageError) -> [UInt8] {
        switch format.length {
        case .fixed(let count):
            guard value.count == count else { throw .length(field: number, count: value.count, most: count) }
        case .variable(_, let most):
            guard value.count <= most else { throw .length(field: number, count: value.count, most: most) }
        }
        if let position = format.misfit(value) { throw .character(field: number, position: position) }
        let data = data(value)
        guard case .variable(let digits, _) = format.length else { return data }
        return announce(announced(value, data), digits: digits) + data
    }

    private func data(_ value: [UInt8]) -> [UInt8] {
        switch encoding {
        case .binary: value
        case .hex: Array(Hex.string(value).utf8)
        case .ascii: separated(value)
        case .ebcdic: separated(value).map(EBCDIC.encode)
        case .bcd where format.content == .signed: Array(value.prefix(1)) + packed(value.dropFirst())
        case .bcd: packed(value[...])
        }
    }

    private func separated(_ value: [UInt8]) -> [UInt8] {
        format.content == .track ? value.map { $0 == 0x44 ? separator : $0 } : value
    }

    private func packed(_ value: ArraySlice<UInt8>) -> [UInt8] {
        // Digits, and D of a track, are below 16 in both forms.
        var nibbles = value.map { $0 >= 0x41 ? $0 - 0x37 : $0 - 0x30 }
        if !nibbles.count.isMultiple(of: 2) {
            switch pad {
            case .leftZero: nibbles.insert(0, at: 0)
            case .rightZero: nibbles.append(0)
            case .rightF: nibbles.append(0x0F)
            }
        }
        return stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    private func announced(_ value: [UInt8], _ data: [UInt8]) -> Int {
        switch (encoding, counts) {
        case (.bcd, .bytes), (.hex, .digits): data.count
        case (.bcd, .digits), (.hex, .bytes), (.ascii, _), (.ebcdic, _), (.binary, _): value.count
        }
    }

    private func announce(_ count: Int, digits: Int) -> [UInt8] {
        let text = stride(from: digits - 1, through: 0, by: -1).map { position in
            UInt8((0..<position).reduce(count) { rest, _ in rest / 10 } % 10)
        }
        switch lengths {
        case .ascii: return text.map { $0 + 0x30 }
        case .ebcdic: return text.map { $0 + 0xF0 }
        case .binary: return digits == 2 ? [UInt8(count)] : [UInt8(count >> 8), UInt8(count & 0xFF)]
        case .bcd:
            let even = digits.isMultiple(of: 2) ? text : [0] + text
            return stride(from: 0, to: even.count, by: 2).map { even[$0] << 4 | even[$0 + 1] }
        }
    }

    // MARK: - Parsing

    /// Takes the field from the front of what is left.
    func decode(_ reader: inout MessageReader) throws(MessageError) -> [UInt8] {
        let part = MessagePart.field(number)
        let count: Int
        switch format.length {
        case .fixed(let fixed): count = encoding == .hex && counts == .digits ? fixed * 2 : fixed
        case .variable(let digits, _): count = try length(&reader, digits: digits)
        }
        var value: [UInt8]
        switch encoding {
        case .binary: value = Array(try reader.take(try limited(count), part))
        case .ascii: value = joined(Array(try reader.take(try limited(count), part)))
        case .ebcdic: value = joined(try reader.take(try limited(count), part).map(EBCDIC.decode))
        case .hex: value = try fromHex(&reader, count)
        case .bcd where format.content == .signed:
            let sign = try reader.take(1, part)
            value = Array(sign) + (try unpacked(&reader, digits: count - 1))
        case .bcd: value = try fromBCD(&reader, count)
        }
        if let position = format.misfit(value) {
            guard let mended = mended(value) else { throw .character(field: number, position: position) }
            value = mended
        }
        return value
    }

    /// Fields whose text is for people, or for somebody else than this program: it decides nothing.
    private static let remarks: Set<Int> = Set([43, 44, 46, 47, 48, 54] + Array(58...63) + Array(104...127))

    /// What a host wrote there in characters of its own, each as a question mark; `nil` for a field that decides something.
    private func mended(_ value: [UInt8]) -> [UInt8]? {
        guard Self.remarks.contains(number), case .text(let characters) = format.content,
            characters.contains(.letters) || characters.contains(.special)
        else { return nil }
        let instead: UInt8 = characters.contains(.special) ? 0x3F : 0x20
        return value.map { characters.contains($0) ? $0 : instead }
    }

    private func length(_ reader: inout MessageReader, digits: Int) throws(MessageError) -> Int {
        let count = lengths == .ascii || lengths == .ebcdic ? digits : (digits + 1) / 2
        let taken = try reader.take(count, .field(number))
        switch lengths {
        case .binary: return taken.reduce(0) { $0 << 8 | Int($1) }
        case .bcd:
            guard let value = BCD.decode(taken) else { throw .notALength(field: number) }
            return Int(value)
        case .ascii, .ebcdic:
            let zero: UInt8 = lengths == .ascii ? 0x30 : 0xF0
            guard taken.allSatisfy({ $0 >= zero && $0 <= zero + 9 }) else { throw .notALength(field: number) }
            return taken.reduce(0) { $0 * 10 + Int($1 - zero) }
        }
    }

    private func limited(_ count: Int) throws(MessageError) -> Int {
        guard count <= format.most else { throw .length(field: number, count: count, most: format.most) }
        return count
    }

    /// A text's own D is no separator where the host writes another.
    private func joined(_ text: [UInt8]) -> [UInt8] {
        guard format.content == .track, separator != 0x44 else { return text }
        return text.map { $0 == separator ? 0x44 : $0 == 0x44 ? separator : $0 }
    }

    private func fromHex(_ reader: inout MessageReader, _ count: Int) throws(MessageError) -> [UInt8] {
        if counts == .digits, !count.isMultiple(of: 2) { throw .notALength(field: number) }
        let bytes = try limited(counts == .digits ? count / 2 : count)
        let text = try reader.take(bytes * 2, .field(number))
        guard let value = MessageHex.bytes(text) else { throw .character(field: number, position: 0) }
        return value
    }

    private func fromBCD(_ reader: inout MessageReader, _ count: Int) throws(MessageError) -> [UInt8] {
        guard counts == .bytes, case .variable = format.length else {
            return try unpacked(&reader, digits: try limited(count))
        }
        // Nothing but F ends a number whose digits are not counted.
        guard count * 2 <= format.most + 1 else { throw .length(field: number, count: count, most: format.most) }
        let bytes = try reader.take(count, .field(number))
        var value = bytes.flatMap { [Self.character($0 >> 4), Self.character($0 & 0x0F)] }
        if value.last == 0x46 { value.removeLast() }
        _ = try limited(value.count)
        return value
    }

    private func unpacked(_ reader: inout MessageReader, digits: Int) throws(MessageError) -> [UInt8] {
        let bytes = try reader.take((digits + 1) / 2, .field(number))
        var value = bytes.flatMap { [Self.character($0 >> 4), Self.character($0 & 0x0F)] }
        guard !digits.isMultiple(of: 2) else { return value }
        let filler: UInt8? = pad == .leftZero ? value.removeFirst() : value.popLast()
        guard filler == (pad == .rightF ? 0x46 : 0x30) else { throw .padding(field: number) }
        return value
    }

    private static func character(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble + 0x30 : nibble + 0x37 }
}

/// Hexadecimal in a message: digits alone, without the blanks that `Hex` skips.
enum MessageHex {
    static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let nibbles = text.compactMap(nibble)
        guard nibbles.count == text.count, nibbles.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    private static func nibble(_ unit: UInt8) -> UInt8? {
        switch unit {
        case 0x30...0x39: unit - 0x30
        case 0x41...0x46: unit - 0x37
        case 0x61...0x66: unit - 0x57
        default: nil
        }
    }
}
