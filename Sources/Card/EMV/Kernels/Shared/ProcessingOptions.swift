// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// GET PROCESSING OPTIONS (EMV Book 3 §6.5.8).
public enum ProcessingOptions {
    /// The command, with the PDOL values as sent (CDA hashes them).
    ///
    /// - Returns: `nil` where the PDOL (9F38) is malformed or asks for more than one short APDU takes.
    public static func command(_ store: DataStore) -> (command: CommandAPDU, pdolData: [UInt8])? {
        guard let values = store.fill(listIn: .pdol) else { return nil }
        var data: [UInt8] = values.count > 127 ? [0x83, 0x81] : [0x83]
        guard data.count + 1 + values.count <= 255 else { return nil }
        data.append(UInt8(values.count))
        data.append(contentsOf: values)
        return (ShortCommand.make(0x80, 0xA8, 0x00, 0x00, data), values)
    }

    /// Stores the answer: format 1 (80, AIP and AFL) or format 2 (77).
    ///
    /// - Parameter formatOneMinimum: fewest value bytes of format 1; `nil` where the kernel takes format 2 only.
    /// - Throws: `CardDataError` for an answer in neither format, or with an object that is refused.
    public static func store(
        _ data: [UInt8], in store: inout DataStore, formatOneMinimum: Int?, policy: CardDataPolicy
    ) throws(CardDataError) {
        let template = try ResponseTemplate(data)
        switch template.tag {
        case .responseFormat2:
            try store.store(data, in: template.value, policy: policy)
        case .responseFormat1:
            let value = data[template.value]
            guard let formatOneMinimum, value.count >= max(2, formatOneMinimum) else { throw .wrongTemplate }
            guard !store.isPresent(.aip), !store.isPresent(.afl) else { throw .duplicate(.aip) }
            store.setFromCard(.aip, value.prefix(2))
            if value.count > 2 { store.setFromCard(.afl, value.dropFirst(2)) }
        case _:
            throw .wrongTemplate
        }
    }
}
