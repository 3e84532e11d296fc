// SPDX-License-Identifier: Apache-2.0
import PaymentValues

extension ReceiptWords {
    /// `12.50 EUR`, in German `12,50 EUR`.
    func text(of money: Money) -> String { localised(money.description) }

    /// `2026-11-21 09:30`, in German `21.11.2026 09:30`, by the shop's clock.
    func text(of time: Timestamp, secondsFromUTC: Int) -> String {
        let local = Timestamp(milliseconds: time.milliseconds &+ Int64(secondsFromUTC) &* 1_000).description
        let parts = local.split(separator: "T")
        guard parts.count == 2 else { return local }
        let day = parts[0].split(separator: "-").map(String.init)
        guard day.count == 3 else { return local }
        return language.text(
            .dateTime, [.year: day[0], .month: day[1], .day: day[2], .clock: String(parts[1].prefix(5))])
    }

    /// What a receipt says of an item besides its label; `nil` for an item without a note.
    func note(on item: Item) -> String? {
        let note: String?
        switch item.kind {
        case .recurring: note = item.frequency.map(frequency)
        case .deferred: note = self[.dueLater]
        case .pending: return self[.amountPending]
        case .charge, .discount, .donation, nil: return nil
        }
        guard let note, let begins = item.begins else { return note }
        return language.text(.receipt(.firstOn), [.note: note, .date: begins])
    }

    func text(of description: AmountDescription) -> String {
        let amount = description.amount.map { text(of: $0) } ?? ""
        switch description {
        case .instalment(let cycle, _, let payments):
            return text(
                .instalments, [.payments: "\(payments)", .amount: amount, .frequency: frequency(of: cycle)])
        case .membership(let cycle): return text(.membership, [.frequency: frequency(of: cycle)])
        case .preauthorization: return self[.reserved]
        case .preauthorizationAmount: return text(.reservedUpTo, [.amount: amount])
        case .surchargeAmount: return text(.surchargeAmount, [.amount: amount])
        case .surchargePercent(let hundredths): return text(.surchargePercent, [.percent: percent(hundredths)])
        case .preauthorizationRelease: return self[.reservationReleased]
        }
    }

    private func text(_ word: ReceiptWord, _ values: [TextKey.Placeholder: String]) -> String {
        language.text(.receipt(word), values)
    }

    private func frequency(of cycle: Item.Frequency) -> String {
        switch cycle {
        case .weekly: self[.weekly]
        case .monthly: self[.monthly]
        case .yearly: self[.yearly]
        }
    }

    /// `2.35` of 235 hundredths, without zeros at its end.
    private func percent(_ hundredths: Int) -> String {
        let whole = hundredths / 100
        let rest = hundredths % 100
        guard rest != 0 else { return "\(whole)" }
        let decimals = rest % 10 == 0 ? "\(rest / 10)" : (rest < 10 ? "0\(rest)" : "\(rest)")
        return localised("\(whole).\(decimals)")
    }

    /// A number with this language's decimal separator in place of the point.
    private func localised(_ number: String) -> String {
        number.replacing(".", with: language.text(.decimalSeparator))
    }
}
