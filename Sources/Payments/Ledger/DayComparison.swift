// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI
public import PaymentValues

/// Two sets of figures of one day, held against each other. What the other side says of the outcome counts for nothing here.
public struct DayComparison: Sendable {
    /// Lines in which the figures are not the same, in a fixed order.
    public let differences: [DayDifference]

    /// - Returns: `nil` where a side's figures cannot be added up.
    public init?(ours: [FigureLine], theirs: [FigureLine]) {
        guard let ours = Self.sums(ours), let theirs = Self.sums(theirs) else { return nil }
        differences = Set(ours.keys).union(theirs.keys).sorted().compactMap { name in
            let (our, their) = (ours[name] ?? Figure(), theirs[name] ?? Figure())
            guard our != their else { return nil }
            return DayDifference(
                mode: name.line.mode, currency: name.line.currency, scheme: name.line.scheme, kind: name.line.kind,
                ours: our, theirs: their)
        }
    }

    public var isBalanced: Bool { differences.isEmpty }

    /// Whether the other side says another thing than its own figures do.
    public func contradicts(_ status: ReconciliationAnswer.Status) -> Bool {
        switch status {
        case .balanced: !isBalanced
        case .differs: isBalanced
        case .later: false
        }
    }

    /// What only one side has, or both with another value, by its name.
    ///
    /// - Returns: `nil` where the values of one name cannot be added up.
    public static func items(
        ours: [ReconciliationItem], theirs: [ReconciliationItem]
    ) -> [DifferenceItem]? {
        guard let ours = values(ours), let theirs = values(theirs) else { return nil }
        return Set(ours.keys).union(theirs.keys).sorted().compactMap { id in
            ours[id] == theirs[id] ? nil : DifferenceItem(id: id, ours: ours[id], theirs: theirs[id])
        }
    }

    /// Whether both sides have the same money of everything that they differ in: a payment whose answer was lost was approved and
    /// taken back in one of the books, and never was in the other. That is no difference of the day's sums.
    ///
    /// - Returns: `false` where a difference is not named whole.
    public static func cancelOut(_ differences: [DayDifference]) -> Bool {
        struct Place: Hashable {
            let mode: Mode
            let currency: Currency
            let scheme: String?
            let of: String
        }
        var sums: [Place: Int64] = [:]
        for difference in differences {
            guard let items = difference.items, items.count == difference.itemCount else { return false }
            for item in items {
                let place = Place(
                    mode: difference.mode, currency: difference.currency, scheme: difference.scheme,
                    of: item.transaction?.text ?? item.id)
                let (more, isMore) = (sums[place] ?? 0).addingReportingOverflow(item.ours ?? 0)
                let (sum, isLess) = more.subtractingReportingOverflow(item.theirs ?? 0)
                guard !isMore, !isLess else { return false }
                sums[place] = sum
            }
        }
        return sums.values.allSatisfy { $0 == 0 }
    }

    /// Whether a figure is the sum of these items.
    public static func adds(_ items: [ReconciliationItem], to figure: Figure) -> Bool {
        var sum: Int64 = 0
        for item in items {
            let (next, overflow) = sum.addingReportingOverflow(item.value)
            guard !overflow else { return false }
            sum = next
        }
        return items.count == figure.count && sum == figure.value
    }

    private struct Name: Hashable, Comparable {
        let line: FigureLine

        /// Without its figures.
        init(_ line: FigureLine) {
            self.line = FigureLine(
                mode: line.mode, currency: line.currency, scheme: line.scheme == "" ? nil : line.scheme, kind: line.kind
            )
        }

        private var parts: [String] {
            [line.mode.rawValue, line.currency.code, line.scheme ?? "", line.kind.rawValue]
        }

        static func < (left: Name, right: Name) -> Bool { left.parts.lexicographicallyPrecedes(right.parts) }
    }

    private static func sums(_ lines: [FigureLine]) -> [Name: Figure]? {
        var sums: [Name: Figure] = [:]
        for line in lines {
            let known = sums[Name(line)] ?? Figure()
            let (count, isCountTooLarge) = known.count.addingReportingOverflow(line.count)
            let (value, isValueTooLarge) = known.value.addingReportingOverflow(line.value)
            guard !isCountTooLarge, !isValueTooLarge else { return nil }
            sums[Name(line)] = Figure(count: count, value: value)
        }
        return sums
    }

    private static func values(_ items: [ReconciliationItem]) -> [String: Int64]? {
        var values: [String: Int64] = [:]
        for item in items {
            let (value, overflow) = (values[item.id] ?? 0).addingReportingOverflow(item.value)
            guard !overflow else { return nil }
            values[item.id] = value
        }
        return values
    }
}
