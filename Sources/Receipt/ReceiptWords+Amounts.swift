import Wire

extension ReceiptWords {
    /// `12.50 EUR`, in German `12,50 EUR`.
    func text(of money: Money) -> String {
        switch language {
        case .english: money.description
        case .german: String(money.description.map { $0 == "." ? "," : $0 })
        }
    }

    /// `2026-11-21 09:30`, in German `21.11.2026 09:30`, by the shop's clock.
    func text(of time: Timestamp, secondsFromUTC: Int) -> String {
        let local = Timestamp(milliseconds: time.milliseconds &+ Int64(secondsFromUTC) &* 1_000).description
        let parts = local.split(separator: "T")
        guard parts.count == 2 else { return local }
        let day = parts[0].split(separator: "-")
        guard day.count == 3 else { return local }
        let clock = parts[1].prefix(5)
        switch language {
        case .english: return "\(parts[0]) \(clock)"
        case .german: return "\(day[2]).\(day[1]).\(day[0]) \(clock)"
        }
    }

    /// What has to be said of an item besides its label; `nil` where nothing has.
    func note(on item: Item) -> String? {
        let first = item.begins.map { begins in
            switch language {
            case .english: ", first on \(begins)"
            case .german: ", zuerst am \(begins)"
            }
        }
        switch item.kind {
        case .recurring: return item.frequency.map { frequency(of: $0) + (first ?? "") }
        case .deferred:
            switch language {
            case .english: return "due later" + (first ?? "")
            case .german: return "später fällig" + (first ?? "")
            }
        case .pending:
            switch language {
            case .english: return "amount pending"
            case .german: return "Betrag noch offen"
            }
        case .charge, .discount, .donation, nil: return nil
        }
    }

    func text(of description: AmountDescription) -> String {
        let amount = description.amount.map { text(of: $0) } ?? ""
        switch (description, language) {
        case (.instalment(let cycle, _, let payments), .english):
            return "\(payments) instalments of \(amount), \(frequency(of: cycle))"
        case (.instalment(let cycle, _, let payments), .german):
            return "\(payments) Raten zu \(amount), \(frequency(of: cycle))"
        case (.membership(let cycle), .english): return "Membership, \(frequency(of: cycle))"
        case (.membership(let cycle), .german): return "Mitgliedschaft, \(frequency(of: cycle))"
        case (.preauthorization, .english): return "Reserved, not charged"
        case (.preauthorization, .german): return "Reserviert, nicht belastet"
        case (.preauthorizationAmount, .english): return "Up to \(amount) reserved"
        case (.preauthorizationAmount, .german): return "Bis zu \(amount) reserviert"
        case (.surchargeAmount, .english): return "\(amount) of it surcharge"
        case (.surchargeAmount, .german): return "davon \(amount) Aufschlag"
        case (.surchargePercent(let hundredths), .english): return "at most \(percent(hundredths)) % of it surcharge"
        case (.surchargePercent(let hundredths), .german): return "davon höchstens \(percent(hundredths)) % Aufschlag"
        case (.preauthorizationRelease, .english): return "Reservation given up"
        case (.preauthorizationRelease, .german): return "Reservierung aufgehoben"
        }
    }

    private func frequency(of cycle: Item.Frequency) -> String {
        switch (cycle, language) {
        case (.weekly, .english): "weekly"
        case (.monthly, .english): "monthly"
        case (.yearly, .english): "yearly"
        case (.weekly, .german): "wöchentlich"
        case (.monthly, .german): "monatlich"
        case (.yearly, .german): "jährlich"
        }
    }

    /// `2.35` of 235 hundredths, without zeros at its end.
    private func percent(_ hundredths: Int) -> String {
        let whole = hundredths / 100
        let rest = hundredths % 100
        guard rest != 0 else { return "\(whole)" }
        let decimals = rest % 10 == 0 ? "\(rest / 10)" : (rest < 10 ? "0\(rest)" : "\(rest)")
        switch language {
        case .english: return "\(whole).\(decimals)"
        case .german: return "\(whole),\(decimals)"
        }
    }
}
