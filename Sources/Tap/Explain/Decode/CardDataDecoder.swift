// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// Reads what cards and terminals exchange, for people: names, structure and the meaning of every bit.
///
/// Nothing in the input traps; what cannot be read is an error with its offset. Values that identify account or holder,
/// and those of unknown tags, are hidden unless `unmasked`.
public struct CardDataDecoder: Sendable {
    /// The kernel whose meaning ambiguous tags have. `nil`: the kernel of the AID in the input, where there is one.
    public var kernel: KernelIdentifier?
    public var unmasked: Bool

    public init(kernel: KernelIdentifier? = nil, unmasked: Bool = false) {
        self.kernel = kernel
        self.unmasked = unmasked
    }

    /// - Parameter form: `nil` lets the bytes speak: ATR, command, response, BER-TLV and data object list are tried.
    /// - Throws: `DecodeError` for no bytes, or bytes of another form.
    public func decode(_ bytes: [UInt8], as form: DecodeForm? = nil) throws(DecodeError) -> Decoded {
        guard !bytes.isEmpty else { throw .empty }
        switch form ?? guess(bytes) {
        case .tlv: return try tlv(bytes)
        case .dol: return try Decoded(form: "dol", meanings: [], objects: list(bytes, at: 0))
        case .apdu: return try apdu(bytes)
        case .atr: return try Decoded(form: "atr", meanings: AnswerToReset(bytes).meanings, objects: [])
        case .ats: return try Decoded(form: "ats", meanings: AnswerToSelect.meanings(bytes), objects: [])
        case .value(let tag): return try value(tag, bytes)
        }
    }

    // MARK: Forms

    private func guess(_ bytes: [UInt8]) -> DecodeForm {
        if bytes[0] == 0x3B || bytes[0] == 0x3F, (try? AnswerToReset(bytes)) != nil { return .atr }
        if let command = try? CommandAPDU(bytes), CodeNames.command(command) != nil { return .apdu }
        if isResponse(bytes) { return .apdu }
        guard let nodes = try? TLV.nodes(bytes) else {
            return (try? DOL(bytes))?.entries.allSatisfy { isKnown($0.tag) } == true ? .dol : .tlv
        }
        let isKnownTLV = nodes.allSatisfy { isKnown($0.tag) }
        if !isKnownTLV, let list = try? DOL(bytes), list.entries.allSatisfy({ isKnown($0.tag) }) { return .dol }
        return .tlv
    }

    private func isKnown(_ tag: Tag) -> Bool { !DataDictionary.elements(tag).isEmpty }

    /// A status word alone, or after one template.
    private func isResponse(_ bytes: [UInt8]) -> Bool {
        guard let last = try? ResponseAPDU(bytes) else { return false }
        guard (0x61...0x6F).contains(last.status.sw1) || last.status.isSuccess else { return false }
        return last.data.isEmpty || (try? TLV.children(last.data))?.isEmpty == false
    }

    private func tlv(_ bytes: [UInt8]) throws(DecodeError) -> Decoded {
        let objects = try objects(bytes, in: 0..<bytes.count)
        return Decoded(form: "tlv", meanings: [], objects: objects)
    }

    private func value(_ tag: Tag, _ bytes: [UInt8]) throws(DecodeError) -> Decoded {
        var writer = TLVWriter()
        writer.append(tag, bytes)
        let header = writer.bytes.count - bytes.count
        let object = try objects(writer.bytes, in: 0..<writer.bytes.count)
        guard object.count == 1 else { throw .tlv(.truncatedTag(offset: 0)) }
        return Decoded(form: tag.description, meanings: [], objects: object.map { $0.moved(by: -header) })
    }

    private func apdu(_ bytes: [UInt8]) throws(DecodeError) -> Decoded {
        if let command = try? CommandAPDU(bytes), CodeNames.command(command) != nil { return self.command(command) }
        let response: ResponseAPDU
        do throws(APDUError) {
            response = try ResponseAPDU(bytes)
        } catch {
            throw .apdu(error)
        }
        let status = Meaning("SW", "\(response.status) \(CodeNames.statusWord(response.status))")
        let objects = try objects(response.data, in: 0..<response.data.count)
        return Decoded(form: "apdu", meanings: [status], objects: objects)
    }

    // MARK: Objects

    private func objects(_ bytes: [UInt8], in range: Range<Int>) throws(DecodeError) -> [DecodedObject] {
        let nodes: [TLVNode]
        do throws(TLVError) {
            nodes = try TLV.nodes(bytes, in: range)
        } catch {
            throw .tlv(error)
        }
        let aid = nodes.first { [0x84, 0x9F06, 0x4F].contains($0.tag.rawValue) }.map { bytes[$0.value] }
        let currency = nodes.first { [0x5F2A, 0x9F42].contains($0.tag.rawValue) }.flatMap {
            BCD.decode(bytes[$0.value])
        }
        let context = ValueContext(
            kernel: kernel ?? aid.flatMap { CodeNames.kernel(Array($0)) }, currency: currency, unmasked: unmasked)
        return tree(nodes[...], bytes, context)
    }

    /// `nodes` is in the order of the bytes, every template before its children.
    private func tree(_ nodes: ArraySlice<TLVNode>, _ bytes: [UInt8], _ context: ValueContext) -> [DecodedObject] {
        var objects: [DecodedObject] = []
        var rest = nodes
        while let node = rest.popFirst() {
            let inside = rest.prefix { $0.depth > node.depth }
            rest = rest.dropFirst(inside.count)
            objects.append(object(node, children: tree(inside, bytes, context), bytes, context))
        }
        return objects
    }

    private func object(
        _ node: TLVNode, children: [DecodedObject], _ bytes: [UInt8], _ context: ValueContext
    ) -> DecodedObject {
        let value = Array(bytes[node.value])
        let names = names(node.tag, context.kernel)
        let isSensitive = AccountData.kind(node.tag, count: value.count) != nil
        let isHidden = !node.tag.isConstructed && !unmasked && isSensitive && !value.isEmpty
        var children = children
        if CardDataDecoder.isList(node.tag, context.kernel), let entries = try? list(value, at: node.value.lowerBound) {
            children = entries
        }
        // Account numbers have a masked form.
        let speaks = !isHidden || [0x57, 0x5A, 0x9F6B].contains(node.tag.rawValue)
        return DecodedObject(
            tag: node.tag.description, name: names.name, possibleNames: names.possible, offset: node.start,
            length: value.count, value: node.tag.isConstructed || isHidden ? nil : Hex.string(value),
            isHidden: isHidden, meanings: speaks ? ValueMeaning.meanings(node.tag, value, context) : [],
            children: children)
    }

    private func names(_ tag: Tag, _ kernel: KernelIdentifier?) -> (name: String?, possible: [String]) {
        if let element = DataDictionary.element(tag, kernel: kernel) { return (element.name, []) }
        let rows = DataDictionary.elements(tag)
        return rows.count == 1 ? (rows[0].name, []) : (nil, rows.map(\.name))
    }

    // MARK: Data object lists

    private func list(_ bytes: [UInt8], at start: Int) throws(DecodeError) -> [DecodedObject] {
        let parsed: DOL
        do throws(DOLError) {
            parsed = try DOL(bytes)
        } catch {
            throw .dol(error)
        }
        var offset = start
        return parsed.entries.map { entry in
            defer { offset += entry.tag.byteCount + 1 }
            let names = names(entry.tag, kernel)
            return DecodedObject(
                tag: entry.tag.description, name: names.name, possibleNames: names.possible, offset: offset,
                length: entry.length, value: nil, isHidden: false, meanings: [], children: [])
        }
    }

    static func isList(_ tag: Tag, _ kernel: KernelIdentifier?) -> Bool {
        switch tag.rawValue {
        case 0x9F38, 0x8C, 0x8D, 0x97, 0x9F49, 0x9F4F, 0x9F3F, 0xDF811A, 0x9F8220: true
        case 0x9F51, 0x9F5B, 0x9F69: kernel == .mastercard
        case 0x9F5C: kernel == .jcb
        case _: false
        }
    }
}

extension DecodedObject {
    func moved(by count: Int) -> DecodedObject {
        DecodedObject(
            tag: tag, name: name, possibleNames: possibleNames, offset: max(0, offset + count), length: length,
            value: value, isHidden: isHidden, meanings: meanings, children: children.map { $0.moved(by: count) })
    }
}
