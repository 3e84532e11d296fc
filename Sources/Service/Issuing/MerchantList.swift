// SPDX-License-Identifier: Apache-2.0

/// One profile for each merchant of a list, on one template.
public enum MerchantList {
    private static let columns = [
        "id", "displayName", "statementDescriptor", "addressLine1", "addressLine2", "onBehalfOf", "country",
    ]
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// - Parameters:
    ///   - list: comma-separated values in UTF-8 with a head that names columns of `merchant` (RFC 4180), as spreadsheets write them: with a
    ///     byte order mark or without, and with rows of nothing but commas. An empty value is left out.
    ///   - template: without `merchant`.
    /// - Throws: the line of the list and what is wrong with it, or the member that the template has too many.
    public static func drafts(_ list: [UInt8], template: ProfileDraft) throws(IssuingError) -> [ProfileDraft] {
        guard template.content["merchant"] == nil else { throw .memberOfTemplate("merchant") }
        var rows = try self.rows(list)
        guard !rows.isEmpty else { throw .merchantList(1, "names no columns") }
        let head = rows.removeFirst().values
        for name in head where !columns.contains(name) {
            throw .merchantList(
                1,
                "no column \(name.debugDescription); use \(columns.joined(separator: ", ")), with commas between them")
        }
        guard Set(head).count == head.count else { throw .merchantList(1, "a column twice") }
        var seen: Set<String> = []
        var drafts: [ProfileDraft] = []
        for (line, values) in rows {
            guard values.count == head.count else {
                throw .merchantList(line, "\(values.count) values, and \(head.count) columns")
            }
            let named = Dictionary(uniqueKeysWithValues: zip(head, values)).filter { !$0.value.isEmpty }
            guard let id = named["id"], seen.insert(id).inserted else {
                throw .merchantList(line, "no id, or one that stood before")
            }
            guard let country = named["country"].flatMap({ Int64($0) }) else {
                throw .merchantList(line, "country is not a number of ISO 3166-1")
            }
            var merchant: [String: JSONTree] = ["country": .number(country)]
            for name in ["id", "displayName", "statementDescriptor", "onBehalfOf"] {
                merchant[name] = named[name].map { .text($0) }
            }
            let lines = ["addressLine1", "addressLine2"].compactMap { named[$0] }
            if !lines.isEmpty { merchant["addressLines"] = .list(lines.map { .text($0) }) }
            var draft = template
            draft.content["merchant"] = .object(merchant)
            drafts.append(draft)
        }
        return drafts
    }

    /// Rows with the number of the line that each begins in. A quoted value may have commas, line ends and doubled quotes in it.
    private static func rows(_ list: [UInt8]) throws(IssuingError) -> [(line: Int, values: [String])] {
        var rows: [(line: Int, values: [String])] = []
        var (values, value) = ([String](), [UInt8]())
        var (line, start, isQuoted, wasQuoted) = (1, 1, false, false)
        func finish() throws(IssuingError) {
            // What another encoding has for a letter would be signed as a question mark.
            guard let text = String(validating: value, as: UTF8.self) else {
                throw .merchantList(line, "letters that are no UTF-8; save the list as UTF-8")
            }
            values.append(text)
            value = []
            wasQuoted = false
        }
        func finishRow() throws(IssuingError) {
            try finish()
            if values.contains(where: { !$0.isEmpty }) { rows.append((start, values)) }
            values = []
        }
        var units = list.starts(with: byteOrderMark) ? list.dropFirst(byteOrderMark.count) : list[...]
        while let unit = units.popFirst() {
            if unit == 0x0A { line += 1 }
            switch unit {
            case 0x22 where isQuoted && units.first == 0x22:
                units.removeFirst()
                value.append(unit)
            case 0x22 where isQuoted: isQuoted = false
            case 0x22 where value.isEmpty && !wasQuoted:
                isQuoted = true
                wasQuoted = true
            case 0x22: throw .merchantList(line, "a quote inside a value")
            case _ where isQuoted: value.append(unit)
            case 0x2C: try finish()
            case 0x0D: continue
            case 0x0A:
                try finishRow()
                start = line
            default: value.append(unit)
            }
        }
        guard !isQuoted else { throw .merchantList(start, "a quote that does not end") }
        try finishRow()
        return rows
    }
}
