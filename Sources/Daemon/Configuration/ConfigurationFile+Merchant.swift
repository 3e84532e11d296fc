// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Settings

extension ConfigurationFile {
    /// `[merchant]`: the shop as receipts and the customer's statement name it.
    ///
    /// - Returns: `nil` without a display name.
    static func merchant(_ top: inout ConfigurationTable) -> Merchant? {
        var table = top.subtable("merchant")
        let name = table.line("display-name", upTo: 40)
        let descriptor = table.line("statement-descriptor", upTo: 22)
        let other = table.line("on-behalf-of", upTo: 40)
        let address = table.line("address", upTo: 160)
        table.finish()
        guard let name else {
            if descriptor != nil || other != nil || address != nil {
                table.report("display-name", "is missing", "write the name that customers know")
            }
            return nil
        }
        let lines = address?.split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
        return Merchant(displayName: name, statementDescriptor: descriptor, address: lines, onBehalfOf: other)
    }

    /// `[support]`: whom people turn to when an error is beyond them.
    static func support(_ top: inout ConfigurationTable) -> SupportContact {
        var table = top.subtable("support")
        let contact = SupportContact(url: table.line("url", upTo: 256), text: table.line("text", upTo: 128))
        if let url = contact.url, !url.hasPrefix("https://") {
            table.report("url", "does not begin with https://", "write the address of a web page")
        }
        table.finish()
        return contact
    }
}

extension ConfigurationTable {
    /// Text in one line.
    fileprivate mutating func line(_ key: String, upTo length: Int) -> String? {
        guard let text = text(key) else { return nil }
        guard text.count <= length, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return report(key, "is longer than \(length) characters or than one line", "shorten it") }
        return text
    }
}

extension Substring {
    /// Without the blanks at both ends.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
