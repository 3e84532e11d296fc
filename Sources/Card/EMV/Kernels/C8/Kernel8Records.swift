// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Reads the records that an AFL names; those in a template DA are encrypted (C-8 §7; Book E §8.6.2).
///
/// Unlike in other kernels the static data take in the value of every record, whatever its file.
struct Kernel8Records: Sendable {
    private var cursor: RecordCursor
    private(set) var staticData: [UInt8] = []

    init(_ locator: ApplicationFileLocator) { cursor = RecordCursor(locator) }

    /// READ RECORD for the record that is next, `nil` once all are read.
    var command: CommandAPDU? { cursor.command }

    /// Stores the record asked for last and goes on to the next one.
    ///
    /// - Returns: what is wrong with the record; `nil` where nothing is.
    mutating func take(
        _ data: [UInt8], _ channel: inout SecureChannel, into store: inout DataStore
    ) -> ErrorIndication.L2? {
        guard cursor.file != nil else { return nil }
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
            if cursor.isAuthenticated { staticData += content }
        } catch {
            return error.l2
        }
        cursor.advance()
        return nil
    }
}
