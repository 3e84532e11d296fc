// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// GENERATE AC (EMV Book 3 §6.5.5).
public enum GenerateAC {
    /// Whether kernels 4 and 5 ask for a signature with the cryptogram: not where CDA has failed before, and never with
    /// an AAC.
    public static func asksForCDA(_ type: ApplicationCryptogram, _ wantsCDA: Bool, _ tvr: TVR) -> Bool {
        wantsCDA && !tvr.contains(.cdaFailed) && type != .aac
    }

    /// - Parameter cdolData: at most 255 bytes; `nil` beyond.
    public static func command(_ type: ApplicationCryptogram, cda: Bool, cdolData: [UInt8]) -> CommandAPDU? {
        guard cdolData.count <= 255 else { return nil }
        return ShortCommand.make(0x80, 0xAE, type.rawValue | (cda ? 0x10 : 0x00), 0x00, cdolData)
    }

    /// Stores the answer: format 1 (CID, ATC, AC and IAD) or format 2.
    ///
    /// - Returns: the objects of a format 2 answer without 9F4B, tag, length and value as received and without padding
    ///   between them: the part of the answer that a CDA hash takes in. Empty for format 1.
    /// - Throws: `CardDataError` for an answer in neither format, or with an object that is refused.
    public static func store(
        _ data: [UInt8], in store: inout DataStore, policy: CardDataPolicy
    ) throws(CardDataError) -> [UInt8] {
        let template = try ResponseTemplate(data)
        switch template.tag {
        case .responseFormat2:
            try store.store(data, in: template.value, policy: policy)
            return try signedPart(data, template.value)
        case .responseFormat1:
            let value = data[template.value]
            guard (11...43).contains(value.count) else { throw .wrongTemplate }
            for tag: Tag in [
                .cryptogramInformation, .atc, .applicationCryptogram, .issuerApplicationData, .signedDynamicData,
            ] where store.isPresent(tag) {
                throw .duplicate(tag)
            }
            store.setFromCard(.cryptogramInformation, value.prefix(1))
            store.setFromCard(.atc, value.dropFirst(1).prefix(2))
            store.setFromCard(.applicationCryptogram, value.dropFirst(3).prefix(8))
            if value.count > 11 { store.setFromCard(.issuerApplicationData, value.dropFirst(11)) }
            return []
        case _:
            throw .wrongTemplate
        }
    }

    /// The objects in `range` without 9F4B, as received and without padding between them.
    static func signedPart(_ data: [UInt8], _ range: Range<Int>) throws(CardDataError) -> [UInt8] {
        let nodes: [TLVNode]
        do throws(TLVError) { nodes = try TLV.children(data, in: range) } catch { throw .malformed(error) }
        var part: [UInt8] = []
        for node in nodes where node.tag != .signedDynamicData { part.append(contentsOf: data[node.start..<node.end]) }
        return part
    }
}
