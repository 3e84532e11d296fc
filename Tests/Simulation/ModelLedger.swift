// SPDX-License-Identifier: Apache-2.0

/// A model of the books of one payment in plain numbers, from docs/shop/money.md and decision 24 alone: rows with a hold and a
/// money column, accounts as sums over them, and what may be asked for. It shares nothing with the room `Ledger`.
struct ModelLedger {
    enum Wish: Equatable {
        case capture(amount: Int64?, tip: Int64, isFinal: Bool)
        case adjust(total: Int64)
        case extend
        case release(amount: Int64?)
        case refund(amount: Int64?)
        case reverse
    }

    struct Entry {
        var wish: Wish
        var value: Int64
        /// What came of it: `nil` while nobody knows, then what was carried out, 0 where nothing was.
        var done: Int64?
        /// A refusal does not count as carried out, even where it is about no amount.
        var isRefused = false
    }

    let isManual: Bool
    let maximum: Int64?
    private var rows: [(name: String, hold: Int64, money: Int64)]
    private(set) var entries: [Int: Entry] = [:]
    private(set) var isReversed = false

    init(approved: Int64, isManual: Bool, maximum: Int64?) {
        self.isManual = isManual
        self.maximum = maximum
        rows = isManual ? [("authorised", approved, 0)] : [("captured", 0, approved)]
    }

    // MARK: - Sums

    var hold: Int64 { rows.reduce(0) { $0 + $1.hold } }
    var money: Int64 { rows.reduce(0) { $0 + $1.money } }
    private func held(_ names: Set<String>) -> Int64 { rows.reduce(0) { names.contains($1.name) ? $0 + $1.hold : $0 } }
    var captured: Int64 { rows.reduce(0) { $1.name == "captured" ? $0 + $1.money : $0 } }
    var authorised: Int64 { isManual ? held(["authorised", "adjusted"]) : captured }
    var released: Int64 { -held(["released", "expired"]) }
    private var isExpired: Bool { rows.contains { $0.name == "expired" } }
    var refunded: Int64 { refunds.reduce(0) { $0 + ($1.done ?? 0) } }
    var pendingRefund: Int64 { refunds.reduce(0) { $1.done == nil ? $0 + $1.value : $0 } }
    private var refunds: [Entry] { entries.values.filter { if case .refund = $0.wish { true } else { false } } }
    private var pending: Entry? {
        entries.values.first { entry in
            if case .refund = entry.wish { return false }
            return entry.done == nil
        }
    }
    private var isFinalPending: Bool { if case .capture(_, _, true) = pending?.wish { true } else { false } }
    var pendingCapture: Int64 { if case .capture = pending?.wish { pending?.value ?? 0 } else { 0 } }
    var remaining: Int64 {
        isFinalPending || isReversed ? 0 : max(0, max(0, authorised - captured - released) - pendingCapture)
    }
    var capturableUpTo: Int64 {
        guard hold > 0, !isFinalPending else { return 0 }
        return max(remaining, maximum.map { $0 - captured - pendingCapture } ?? 0)
    }
    var refundable: Int64 { isReversed ? 0 : max(0, captured - refunded - pendingRefund) }

    var figures: [Int64] {
        [
            authorised, captured, released, refunded, pendingCapture, pendingRefund, remaining, capturableUpTo,
            refundable,
        ]
    }

    // MARK: - What may be asked for

    func allows(_ wish: Wish) -> Bool {
        guard !isReversed, pending == nil else { return false }
        switch wish {
        case .capture(let amount, let tip, _):
            let wanted = amount ?? remaining
            return isManual && hold > 0 && wanted > 0 && (0...wanted).contains(tip) && wanted <= capturableUpTo
        case .adjust(let total): return isAdjustable && total > 0
        case .extend: return isAdjustable
        case .release(let amount):
            return isManual && remaining > 0 && amount.map { $0 > 0 && $0 <= remaining } ?? true
        case .refund(let amount):
            return captured > 0 && refundable > 0 && amount.map { $0 > 0 && $0 <= refundable } ?? true
        case .reverse:
            let captures = rows.count { $0.name == "captured" }
            let isInPart = isManual && (captures > 1 || captures == 1 && hold > 0)
            return !refunds.contains { $0.done != 0 } && !isInPart && (hold > 0 || money > 0)
        }
    }

    private var isAdjustable: Bool {
        let attempts = entries.values.count {
            switch $0.wish {
            case .adjust, .extend: true
            case .capture, .release, .refund, .reverse: false
            }
        }
        return isManual && hold > 0 && captured == 0 && attempts < 10
    }

    // MARK: - What happened

    /// - Returns: what is asked for.
    mutating func begin(_ number: Int, _ wish: Wish) -> Int64 {
        let value: Int64 =
            switch wish {
            case .capture(let amount, _, _), .release(let amount): amount ?? remaining
            case .adjust(let total): total
            case .refund(let amount): amount ?? refundable
            case .extend, .reverse: 0
            }
        entries[number] = Entry(wish: wish, value: value)
        return value
    }

    /// - Parameter done: what was carried out; `nil` for nothing.
    mutating func end(_ number: Int, done: Int64?) {
        guard let entry = entries[number], entry.done == nil else { return }
        entries[number]?.done = done ?? 0
        entries[number]?.isRefused = done == nil
        guard done != nil else { return }
        let held = hold
        switch entry.wish {
        case .capture(_, _, let isFinal):
            let taken = min(entry.value, held)
            rows.append(("captured", -taken, entry.value))
            if isFinal, held > taken { rows.append(("released", taken - held, 0)) }
        case .adjust(let total): rows.append(("adjusted", total - held, 0))
        case .release: rows.append(("released", -min(entry.value, held), 0))
        case .extend, .refund, .reverse: break
        }
    }

    mutating func reverse() {
        rows.append(("reversed", -hold, -money))
        isReversed = true
    }

    mutating func expire() {
        if hold > 0 { rows.append(("expired", -hold, 0)) }
    }
}
