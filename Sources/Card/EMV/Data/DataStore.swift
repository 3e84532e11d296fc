// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The TLV database of one kernel run: all values in one buffer, found through a flat index.
///
/// A value of length zero is present, but absent for every mandatory check and for filling a DOL. What a card sends
/// never replaces what the terminal set.
public struct DataStore: Sendable {
    private enum Origin: UInt8 {
        case terminal
        case card
    }

    private struct Entry {
        var tag: UInt32
        var offset: Int32
        var length: Int32
        var origin: Origin
    }

    let kernel: KernelIdentifier
    /// Where tags share a hash the index is scanned from end to end; real cards stay below a hundred objects.
    private static let maximumCount = 1_024
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// For each hash of a tag: the index of the only entry that has it, `DataStore.none`, or `DataStore.several`.
    private var places = DataStore.noPlaces
    private static let none: Int16 = -1
    private static let several: Int16 = -2
    private static let noPlaces = [Int16](repeating: none, count: 512)

    /// - Parameter isReserved: with room for what a transaction brings. A kernel that waits for one has no use for it.
    public init(kernel: KernelIdentifier, isReserved: Bool = false) {
        self.kernel = kernel
        guard isReserved else { return }
        bytes.reserveCapacity(2_048)
        entries.reserveCapacity(96)
    }

    /// Sets an object of the terminal or the kernel, replacing any value.
    public mutating func set(_ tag: Tag, _ value: [UInt8]) {
        guard let index = position(tag) else {
            append(tag, offset: bytes.count, length: value.count, .terminal)
            return append(value)
        }
        entries[index].origin = .terminal
        if Int(entries[index].length) == value.count {
            let offset = Int(entries[index].offset)
            for position in 0..<value.count { bytes[offset + position] = value[position] }
        } else {
            entries[index].offset = Int32(truncatingIfNeeded: bytes.count)
            entries[index].length = Int32(truncatingIfNeeded: value.count)
            append(value)
        }
    }

    /// Terminal data are a few bytes each: a loop takes a quarter of what `append(contentsOf:)` does.
    private mutating func append(_ value: [UInt8]) {
        for byte in value { bytes.append(byte) }
    }

    /// Sets the low `count` bytes of `number`, big-endian.
    public mutating func set(_ tag: Tag, binary number: UInt64, count: Int) {
        let offset = reserve(tag, count)
        var span = bytes.mutableSpan
        var rest = number
        for position in (offset..<offset + count).reversed() {
            span[position] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
        }
    }

    /// Sets the low `2 * count` decimal digits of `number` in BCD (format n).
    public mutating func set(_ tag: Tag, digits number: UInt64, count: Int) {
        let offset = reserve(tag, count)
        var span = bytes.mutableSpan
        var rest = number
        for position in (offset..<offset + count).reversed() {
            let next = rest / 100
            let pair = UInt8(truncatingIfNeeded: rest &- next &* 100)
            span[position] = (pair / 10) << 4 | pair % 10
            rest = next
        }
    }

    /// Sets an object for a card, as if the card had sent it in a template (format 1 answers).
    public mutating func setFromCard(_ tag: Tag, _ value: some Collection<UInt8>) {
        append(tag, offset: bytes.count, length: value.count, .card)
        bytes.append(contentsOf: value)
    }

    public mutating func remove(_ tag: Tag) {
        guard position(tag) != nil else { return }
        entries.removeAll { $0.tag == tag.rawValue }
        for place in places.indices { places[place] = DataStore.none }
        for (index, entry) in entries.enumerated() { note(entry.tag, at: index) }
    }

    /// Room for `count` bytes of terminal data, by its offset; contents undefined.
    private mutating func reserve(_ tag: Tag, _ count: Int) -> Int {
        if let index = position(tag) {
            if Int(entries[index].length) != count {
                entries[index].offset = Int32(truncatingIfNeeded: bytes.count)
                entries[index].length = Int32(truncatingIfNeeded: count)
                for _ in 0..<count { bytes.append(0) }
            }
            entries[index].origin = .terminal
            return Int(entries[index].offset)
        }
        let offset = bytes.count
        append(tag, offset: offset, length: count, .terminal)
        for _ in 0..<count { bytes.append(0) }
        return offset
    }

    private mutating func append(_ tag: Tag, offset: Int, length: Int, _ origin: Origin) {
        note(tag.rawValue, at: entries.count)
        entries.append(
            Entry(
                tag: tag.rawValue, offset: Int32(truncatingIfNeeded: offset),
                length: Int32(truncatingIfNeeded: length), origin: origin))
    }

    /// Stores every primitive object of `data[range]`, at any depth; templates themselves are not kept.
    ///
    /// - Throws: at the first object that `policy` refuses; what came before it stays stored.
    public mutating func store(
        _ data: [UInt8], in range: Range<Int>? = nil, policy: CardDataPolicy
    ) throws(CardDataError) {
        try store(data, in: range, of: .answer, policy: policy)
    }

    /// - Parameter template: the one that `data[range]` is the value of. A5 and BF0C are recognised on the way.
    mutating func store(
        _ data: [UInt8], in range: Range<Int>?, of template: CardObjectRule.Templates, policy: CardDataPolicy
    ) throws(CardDataError) {
        let base = bytes.count
        bytes.append(contentsOf: data)
        var refused: CardDataError?
        var (proprietary, discretionary) = (0..<0, 0..<0)
        do throws(TLVError) {
            try TLV.walk(data.span, in: range) { node in
                if node.tag.isConstructed {
                    if node.tag == .fciProprietaryTemplate { proprietary = node.value }
                    if node.tag == .fciDiscretionaryData { discretionary = node.value }
                    return true
                }
                let inner: CardObjectRule.Templates? =
                    discretionary.contains(node.start)
                    ? .discretionary : proprietary.contains(node.start) ? .proprietary : nil
                refused = take(node, base, inner ?? template, policy)
                return refused == nil
            }
        } catch {
            throw .malformed(error)
        }
        if let refused { throw refused }
    }

    private mutating func take(
        _ node: TLVNode, _ base: Int, _ template: CardObjectRule.Templates, _ policy: CardDataPolicy
    ) -> CardDataError? {
        guard let rules = policy.rules else { return take(node, base, policy) }
        guard let rule = rules(node.tag) else {
            guard DataDictionary.isReserved(node.tag, kernel) else {
                return isPresent(node.tag) ? nil : add(node, base)
            }
            // Those of the private class (DF81…) are passed over (C-2 §4.5, one source).
            return node.tag.isPrivate ? nil : .reservedTag(node.tag)
        }
        guard rule.templates.contains(template) else { return .misplaced(node.tag) }
        guard rule.lengths.contains(node.value.count) else { return .wrongLength(node.tag) }
        return keep(node, base, policy)
    }

    private mutating func take(_ node: TLVNode, _ base: Int, _ policy: CardDataPolicy) -> CardDataError? {
        if let row = DataDictionary.row(node.tag, kernel: kernel) {
            let rows = DataDictionary.table
            if rows[row].source == .terminal || rows[row].source == .kernel {
                return policy.rejectsReservedTags ? .reservedTag(node.tag) : nil
            }
            if policy.checksLengths, !node.value.isEmpty {
                guard (rows[row].minimumLength...rows[row].maximumLength).contains(node.value.count) else {
                    return .wrongLength(node.tag)
                }
            }
        }
        return keep(node, base, policy)
    }

    private mutating func add(_ node: TLVNode, _ base: Int) -> CardDataError? {
        guard entries.count < DataStore.maximumCount else { return .tooManyObjects }
        append(node.tag, offset: base + node.value.lowerBound, length: node.value.count, .card)
        return nil
    }

    private mutating func keep(_ node: TLVNode, _ base: Int, _ policy: CardDataPolicy) -> CardDataError? {
        guard let index = position(node.tag) else { return add(node, base) }
        let offset = base + node.value.lowerBound
        if entries[index].origin == .terminal {
            return policy.rejectsReservedTags ? .reservedTag(node.tag) : nil
        }
        return takeAgain(node, offset, index, policy)
    }

    private mutating func takeAgain(
        _ node: TLVNode, _ offset: Int, _ index: Int, _ policy: CardDataPolicy
    ) -> CardDataError? {
        switch policy.duplicates {
        case .keepFirst: return nil
        case .reject(let exempt): return exempt.contains(node.tag) ? nil : .duplicate(node.tag)
        case .rejectUnlessEmpty:
            guard entries[index].length == 0 else { return .duplicate(node.tag) }
            entries[index].offset = Int32(truncatingIfNeeded: offset)
            entries[index].length = Int32(truncatingIfNeeded: node.value.count)
            return nil
        case .rejectUnlessIdentical:
            let known = valueRange(entries[index])
            let same =
                known.count == node.value.count && bytes[known].elementsEqual(bytes[offset..<offset + known.count])
            return same ? nil : .duplicate(node.tag)
        }
    }

    /// Index of an object in the flat index, the first where a card's answer brought it twice.
    private func position(_ tag: Tag) -> Int? {
        let place = places[DataStore.hash(tag.rawValue)]
        guard place != DataStore.several else { return entries.firstIndex { $0.tag == tag.rawValue } }
        guard place != DataStore.none, entries[Int(place)].tag == tag.rawValue else { return nil }
        return Int(place)
    }

    private mutating func note(_ tag: UInt32, at index: Int) {
        let hash = DataStore.hash(tag)
        let isAlone = places[hash] == DataStore.none
        places[hash] = isAlone ? Int16(exactly: index) ?? DataStore.several : DataStore.several
    }

    /// Nine bits (Knuth's multiplication).
    private static func hash(_ tag: UInt32) -> Int { Int((tag &* 0x9E37_79B1) >> 23) }

    private func valueRange(_ entry: Entry) -> Range<Int> { Int(entry.offset)..<Int(entry.offset) + Int(entry.length) }

    /// The object is there, maybe with an empty value.
    public func isPresent(_ tag: Tag) -> Bool { position(tag) != nil }

    /// The object is there with a value: the check for everything mandatory.
    public func isPresentNotEmpty(_ tag: Tag) -> Bool { count(tag) ?? 0 > 0 }

    /// Length of the value in bytes, `nil` where the object is absent.
    public func count(_ tag: Tag) -> Int? { position(tag).map { Int(entries[$0].length) } }

    /// A value that is there and not empty.
    public func value(_ tag: Tag) -> [UInt8]? {
        guard let index = position(tag), entries[index].length > 0 else { return nil }
        return Array(bytes[valueRange(entries[index])])
    }

    /// A value of exactly `count` bytes, at most eight, as a big-endian number.
    public func number(_ tag: Tag, count: Int) -> UInt64? {
        guard let index = position(tag), entries[index].length == count, (1...8).contains(count) else { return nil }
        var number: UInt64 = 0
        for offset in valueRange(entries[index]) { number = number << 8 | UInt64(bytes[offset]) }
        return number
    }

    /// The byte at `offset` of a value.
    public func byte(_ tag: Tag, at offset: Int = 0) -> UInt8? {
        guard let index = position(tag), offset >= 0, offset < Int(entries[index].length) else { return nil }
        return bytes[Int(entries[index].offset) + offset]
    }

    /// A value in format n as a number; `nil` where it is absent, empty or no BCD.
    public func digits(_ tag: Tag) -> UInt64? {
        guard let index = position(tag), entries[index].length > 0 else { return nil }
        return BCD.decode(bytes[valueRange(entries[index])])
    }

    public func object(_ tag: Tag) -> DataObject? { value(tag).map { DataObject(tag, $0) } }

    /// The objects of `tags` that are present and not empty, in this order.
    public func objects(_ tags: [Tag]) -> [DataObject] {
        var objects: [DataObject] = []
        objects.reserveCapacity(tags.count)
        for tag in tags {
            if let object = object(tag) { objects.append(object) }
        }
        return objects
    }

    /// Compares two values without copying; `false` where one is absent or empty.
    public func isEqual(_ left: Tag, _ right: Tag) -> Bool {
        guard let first = position(left), let second = position(right), entries[first].length > 0 else { return false }
        return bytes[valueRange(entries[first])].elementsEqual(bytes[valueRange(entries[second])])
    }

    /// The values that the list stored under `tag` asks for, or `nil` where that list is malformed (EMV Book 3 §5.4).
    /// An absent or empty list asks for nothing.
    public func fill(listIn tag: Tag) -> [UInt8]? {
        guard let index = position(tag) else { return [] }
        return fill(DOLCursor(valueRange(entries[index])), list: bytes)
    }

    /// As `fill(listIn:)` for a list given as bytes.
    public func fill(list: [UInt8]) -> [UInt8]? { fill(DOLCursor(0..<list.count), list: list) }

    /// Whether the list stored under `tag` is well formed and asks for `wanted`.
    public func list(in tag: Tag, contains wanted: Tag) -> Bool {
        guard let index = position(tag) else { return false }
        return DOLCursor.contains(wanted, bytes, valueRange(entries[index]))
    }

    private func fill(_ start: DOLCursor, list: [UInt8]) -> [UInt8]? {
        var cursor = start
        var filled: [UInt8] = []
        filled.reserveCapacity(64)
        while let entry = cursor.next(list) { append(entry.tag, entry.length, to: &filled) }
        return cursor.isMalformed ? nil : filled
    }

    private func append(_ tag: Tag, _ length: Int, to filled: inout [UInt8]) {
        guard !tag.isConstructed, let index = position(tag), entries[index].length > 0 else {
            filled.append(contentsOf: repeatElement(0, count: length))
            return
        }
        let range = valueRange(entries[index])
        if range.count == length {
            filled.append(contentsOf: bytes[range])
        } else {
            let format = DataDictionary.row(tag, kernel: kernel).map { DataDictionary.table[$0].format } ?? .b
            filled.append(contentsOf: format.fit(Array(bytes[range]), to: length))
        }
    }
}

extension Tag {
    /// Bits 8 and 7 of the first byte: the tag belongs to whoever made it up.
    fileprivate var isPrivate: Bool { rawValue >> (UInt32(byteCount - 1) * 8) & 0xC0 == 0xC0 }
}

extension DataStore: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(entries.count) data objects" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
