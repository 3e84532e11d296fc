// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads the records that an AFL names and collects the static data to be authenticated (EMV Book 3 §10.2 and §10.3).
public struct RecordReader: Sendable {
    private var cursor: RecordCursor
    /// Records that enter offline data authentication: the value of 70 for SFI 1…10, the whole object for SFI 11…30.
    public private(set) var staticData: [UInt8] = []
    /// A record that has to be authenticated is no template 70, or too much: offline data authentication has failed.
    public private(set) var hasUnusableRecord = false

    public init(_ locator: ApplicationFileLocator) { cursor = RecordCursor(locator) }

    /// READ RECORD for the record that is next, `nil` once all are read.
    public var command: CommandAPDU? { cursor.command }

    /// Stores the record asked for last and goes on to the next one.
    ///
    /// - Throws: `CardDataError` for a record that is no template 70, or with an object that is refused.
    public mutating func take(
        _ data: [UInt8], into store: inout DataStore, policy: CardDataPolicy
    ) throws(CardDataError) {
        guard let file = cursor.file else { return }
        let isAuthenticated = cursor.isAuthenticated
        if file <= 10 {
            let template = try ResponseTemplate(data)
            guard template.tag == .recordTemplate else { throw .wrongTemplate }
            if isAuthenticated { authenticate(data[template.value]) }
            try store.store(data, in: template.value, of: .record, policy: policy)
        } else {
            try takeProprietary(data, isAuthenticated, into: &store, policy: policy)
        }
        cursor.advance()
    }

    /// What is beyond 2048 bytes in all makes offline data authentication fail (C-2 S4.34; one source).
    private mutating func authenticate(_ part: ArraySlice<UInt8>) {
        if staticData.count + part.count > 2_048 {
            hasUnusableRecord = true
        } else {
            staticData.append(contentsOf: part)
        }
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
        if isAuthenticated { authenticate(data[template.start..<template.value.upperBound]) }
        try store.store(data, in: template.value, of: .record, policy: policy)
    }
}
