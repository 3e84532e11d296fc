// SPDX-License-Identifier: Apache-2.0
import ECR
import PaymentValues

extension TillsFile.Till {
    /// The machine of this till's protocol; `nil` for a vending machine, whose rules are the reverse.
    func terminal(_ contents: TillLedger.Contents) -> (any TillTerminal)? {
        let desk = TillMachine(
            lane: lane, installation: contents.installation, counter: contents.counter, attempts: contents.attempts,
            past: contents.past, closedThrough: contents.closedThrough,
            refundLimit: refundLimit.map { RefundLimit(each: $0, day: refundLimitOfDay) },
            reversalTime: kind == .zvt ? Int64(reversalMinutes) * 60_000 : 0)
        let kinds: Set<TillOrder.Kind> = refundLimit == nil ? [.sale] : [.sale, .refund]
        switch kind {
        case .caisseEPlus:
            return EPlusTerminal(
                desk: desk,
                settings: .init(currency: currency, kinds: kinds, answer: isImmediate ? .atOnce : .atTheEnd))
        case .caisseAP: return CaisseTerminal(desk: desk, settings: .init(currency: currency, kinds: kinds))
        case .hwProxy:
            return ProxyTerminal(
                desk: desk,
                settings: .init(currency: currency, terminal: String(terminal), hosts: hosts, origins: origins))
        case .mdb: return nil
        case .zvt:
            let isSerial = if case .serial = line { true } else { false }
            return ZVTTerminal(
                desk: desk,
                settings: .init(
                    currency: currency, terminal: terminal, password: password.map(Self.packed),
                    refunds: refundLimit != nil, reservations: reservations,
                    reversalTime: Int64(reversalMinutes) * 60_000, words: words, device: deviceID,
                    readAmount: readAmount),
                line: isSerial ? .serial : .tcp)
        }
    }

    private var words: ZVTWords {
        ZVTWords(
            receipt: language.text(.receipt(.receiptNumber)), terminal: "TID",
            endOfDay: language.text(.report(.endOfDay)), total: language.text(.receipt(.total)),
            others: "...", decimalSeparator: language.text(.decimalSeparator),
            width: receiptWidth)
    }

    /// Two digits a byte.
    private static func packed(_ digits: String) -> [UInt8] {
        let values = digits.utf8.map { $0 &- 0x30 }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
