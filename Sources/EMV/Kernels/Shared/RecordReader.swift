import CardBytes

/// Reads the records that an AFL names, in its order, and collects the static data to be authenticated
/// (EMV Book 3 §10.2 and §10.3).
struct RecordReader: Sendable {
    private let entries: [ApplicationFileLocator.Entry]
    private var index = 0
    private var record: Int
    /// Records that enter offline data authentication: the value of 70 for SFI 1…10, the whole object for SFI 11…30.
    private(set) var staticData: [UInt8] = []
    /// A record that has to be authenticated is no template 70: offline data authentication has failed.
    private(set) var hasUnusableRecord = false

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
    mutating func take(
        _ data: [UInt8], into store: inout DataStore, policy: CardDataPolicy
    ) throws(CardDataError) {
        guard index < entries.count else { return }
        let entry = entries[index]
        let isAuthenticated = record < Int(entry.first) + Int(entry.authenticated)
        if entry.sfi <= 10 {
            let template = try ResponseTemplate(data)
            guard template.tag == .recordTemplate else { throw .wrongTemplate }
            if isAuthenticated { staticData.append(contentsOf: data[template.value]) }
            try store.store(data, in: template.value, policy: policy)
        } else {
            try takeProprietary(data, isAuthenticated, into: &store, policy: policy)
        }
        advance(entry)
    }

    /// A record of a file whose content is the payment system's own: it has to be a template only to be authenticated.
    private mutating func takeProprietary(
        _ data: [UInt8], _ isAuthenticated: Bool, into store: inout DataStore, policy: CardDataPolicy
    ) throws(CardDataError) {
        let template: ResponseTemplate? = {
            do throws(CardDataError) { return try ResponseTemplate(data) } catch { return nil }
        }()
        guard let template, template.tag == .recordTemplate else {
            if isAuthenticated { hasUnusableRecord = true }
            return
        }
        if isAuthenticated { staticData.append(contentsOf: data[template.start..<template.value.upperBound]) }
        try store.store(data, in: template.value, policy: policy)
    }

    private mutating func advance(_ entry: ApplicationFileLocator.Entry) {
        record += 1
        guard record > Int(entry.last) else { return }
        index += 1
        if index < entries.count { record = Int(entries[index].first) }
    }
}
