// SPDX-License-Identifier: Apache-2.0
public import CardBytes

extension FinalOutcome {
    /// This outcome with everything in its data record that the scheme's hosts may want and that the kernel's own record
    /// leaves to the terminal, and without what they prohibit. The record of a mag-stripe mode, for which no field 55 is
    /// sent, stays as it is.
    public func completed(for transaction: Transaction, at terminal: TerminalConfiguration) -> FinalOutcome {
        guard let record = outcome.dataRecord, let application, !isMagStripe else { return self }
        let row = terminal.hostData.row(of: application.matchingAID)
        var completed = record.filter { row.presence(of: $0.tag, in: transaction.type) != .prohibited }
        for tag in row.tags where row.presence(of: tag, in: transaction.type) != .prohibited {
            guard (completed.value(of: tag) ?? []).isEmpty,
                let value = terminal.value(of: tag, for: transaction, application)
                    ?? outcome.discretionaryData?.value(of: tag)
            else { continue }
            completed.removeAll { $0.tag == tag }
            completed.append(DataObject(tag, value))
        }
        var final = self
        final.outcome.dataRecord = completed
        return final
    }

    /// The first object without which the scheme's hosts refuse this outcome; `nil` where it may be sent. For what goes to
    /// a host: an online request, and an approval that is handed in later.
    public func missingHostData(for transaction: Transaction, at terminal: TerminalConfiguration) -> Tag? {
        guard outcome.status == .onlineRequest || outcome.status == .approved, !isMagStripe else { return nil }
        guard let record = outcome.dataRecord, let application else { return nil }
        let row = terminal.hostData.row(of: application.matchingAID)
        return row.tags.first {
            row.presence(of: $0, in: transaction.type) == .mandatory && (record.value(of: $0) ?? []).isEmpty
        }
    }

    /// By 9F39, or by kernel 2's Track 2 Data beside no cryptogram.
    private var isMagStripe: Bool {
        guard let record = outcome.dataRecord else { return false }
        return record.value(of: .entryMode) == [0x91]
            || record.value(of: .track2Data) != nil && record.value(of: .applicationCryptogram) == nil
    }
}

extension TerminalConfiguration {
    /// What a terminal knows of `tag` by itself, empty values excluded.
    fileprivate func value(of tag: Tag, for transaction: Transaction, _ application: SelectedApplication) -> [UInt8]? {
        switch tag {
        case .dfName: return application.dfName
        case .adfName: return application.adfName
        case .terminalAID: return application.matchingAID
        // Kernels 3 and 7 keep no TVR, and hosts get zeros (C-3 Table 4-3).
        case .tvr: return [0, 0, 0, 0, 0]
        case .amountAuthorised: return BCD.encode(transaction.amount, count: 6)
        // A purchase without cashback has one of nothing.
        case .amountOther: return BCD.encode(transaction.otherAmount ?? 0, count: 6)
        case .transactionCurrency: return BCD.encode(UInt64(transaction.currency), count: 2)
        case .terminalCountry: return BCD.encode(UInt64(transaction.country), count: 2)
        case .transactionDate: return transaction.date.yymmdd
        case .transactionType: return [transaction.type.rawValue]
        case .transactionSequenceCounter: return BCD.encode(UInt64(transaction.sequenceCounter), count: 4)
        case _:
            let combination = combinations.first {
                $0.aid == application.matchingAID && $0.kernel == application.kernel && $0.covers(transaction.type)
            }
            let value = combination?.kernelData.value(of: tag) ?? terminalData.value(of: tag)
            guard let value, !value.isEmpty else { return nil }
            return value
        }
    }
}

extension SelectedApplication {
    /// DF Name (84) as the card's FCI has it, else the directory's.
    fileprivate var dfName: [UInt8] {
        guard let node = try? TLV.first(.dfName, fci), !node.value.isEmpty else { return adfName }
        return Array(fci[node.value])
    }
}
