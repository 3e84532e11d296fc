import CardBytes

/// Reads the records that an AFL names; those in a template DA are encrypted (C-8 §7; Book E §8.6.2).
///
/// Unlike in other kernels the static data take in the value of every record, whatever its file.
struct Kernel8Records: Sendable {
    private let entries: [ApplicationFileLocator.Entry]
    private var index = 0
    private var record: Int
    private(set) var staticData: [UInt8] = []

    init(_ locator: ApplicationFileLocator) {
        entries = locator.entries
        record = Int(locator.entries.first?.first ?? 1)
    }

    /// READ RECORD for the record that is next, `nil` once all are read.
    var command: CommandAPDU? {
        guard index < entries.count else { return nil }
        return ShortCommand.make(0x00, 0xB2, UInt8(truncatingIfNeeded: record), entries[index].sfi << 3 | 0x04)
    }

    /// Stores the record asked for last and goes on to the next one.
    ///
    /// - Returns: what is wrong with the record; `nil` where nothing is.
    mutating func take(
        _ data: [UInt8], _ channel: inout SecureChannel, into store: inout DataStore
    ) -> ErrorIndication.L2? {
        guard index < entries.count else { return nil }
        let entry = entries[index]
        do throws(CardDataError) {
            let template = try ResponseTemplate(data)
            let content: [UInt8]
            switch template.tag {
            case .recordTemplate: content = Array(data[template.value])
            case 0xDA:
                guard let plain = channel.decrypt(Array(data[template.value])) else { return .decryptionFailed }
                content = plain
            case _: return .parsingError
            }
            try store.store(content, policy: Kernel8.policy)
            if record < Int(entry.first) + Int(entry.authenticated) { staticData += content }
        } catch {
            return error.l2
        }
        record += 1
        guard record > Int(entry.last) else { return nil }
        index += 1
        if index < entries.count { record = Int(entries[index].first) }
        return nil
    }
}
