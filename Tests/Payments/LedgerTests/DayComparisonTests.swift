// SPDX-License-Identifier: Apache-2.0
import Ledger
import POSAPI
import PSPAPI
import PaymentValues
import Testing

@Suite("Two sets of figures of a day")
struct DayComparisonTests {
    private func line(
        _ kind: FigureLine.Kind, _ count: Int, _ value: Int64, scheme: String? = "Visa", currency: String = "EUR"
    ) throws -> FigureLine {
        FigureLine(
            mode: .test, currency: try #require(Currency(currency)), scheme: scheme, kind: kind, count: count,
            value: value)
    }

    @Test func `The same figures balance, in any order, and a line without a movement is none`() throws {
        let ours = [try line(.captured, 2, 900), try line(.refunded, 1, -300), try line(.reversed, 0, 0)]
        let theirs = [try line(.refunded, 1, -300), try line(.captured, 2, 900)]
        let comparison = try #require(DayComparison(ours: ours, theirs: theirs))
        #expect(comparison.isBalanced)
        #expect(!comparison.contradicts(.balanced) && comparison.contradicts(.differs))
    }

    @Test func `A line that is given in two parts is one line`() throws {
        let theirs = [try line(.captured, 1, 400), try line(.captured, 1, 500)]
        #expect(DayComparison(ours: [try line(.captured, 2, 900)], theirs: theirs)?.isBalanced == true)
    }

    @Test func `A count, a value, a scheme, a currency and a kind are each a difference`() throws {
        let ours = try line(.captured, 2, 900)
        let others = [
            try line(.captured, 1, 900), try line(.captured, 2, 901), try line(.captured, 2, 900, scheme: "Mastercard"),
            try line(.captured, 2, 900, currency: "JPY"), try line(.refunded, 2, 900),
        ]
        for other in others {
            let comparison = try #require(DayComparison(ours: [ours], theirs: [other]))
            #expect(!comparison.isBalanced && comparison.contradicts(.balanced))
        }
        let missing = try #require(DayComparison(ours: [], theirs: [try line(.refunded, 1, -300)]))
        #expect(missing.differences.map(\.ours) == [Figure()])
        #expect(missing.differences.map(\.theirs) == [Figure(count: 1, value: -300)])
    }

    @Test func `Figures that no number holds compare to nothing`() throws {
        let huge = [try line(.captured, 1, .max), try line(.captured, 1, 1)]
        #expect(DayComparison(ours: [], theirs: huge) == nil)
        #expect(DayComparison.items(ours: [], theirs: ["a", "a"].map { .init(id: $0, value: .max) }) == nil)
    }

    @Test func `Items differ where one side lacks them or has another value`() throws {
        let ours = [ReconciliationItem(id: "a", value: 1), .init(id: "b", value: 2), .init(id: "c", value: 3)]
        let theirs = [ReconciliationItem(id: "b", value: 5), .init(id: "c", value: 3), .init(id: "d", value: 4)]
        let items = try #require(DayComparison.items(ours: ours, theirs: theirs))
        #expect(
            items == [
                DifferenceItem(id: "a", ours: 1), DifferenceItem(id: "b", ours: 2, theirs: 5),
                DifferenceItem(id: "d", theirs: 4),
            ])
        #expect(DayComparison.adds(theirs, to: Figure(count: 3, value: 12)))
        #expect(!DayComparison.adds(theirs, to: Figure(count: 4, value: 12)))
        #expect(!DayComparison.adds(theirs, to: Figure(count: 3, value: 13)))
    }

    private func difference(
        _ kind: FigureLine.Kind, _ items: [DifferenceItem], scheme: String? = "Visa", more: Int = 0
    ) throws -> DayDifference {
        DayDifference(
            mode: .test, currency: try #require(Currency("EUR")), scheme: scheme, kind: kind, ours: Figure(),
            theirs: Figure(), items: items, itemCount: items.count + more)
    }

    @Test("P6: what one side approved and took back, and the other never had, is no difference of the day")
    func cancelOut() throws {
        let lost = [
            try difference(.captured, [DifferenceItem(id: "a", theirs: 900)]),
            try difference(.reversed, [DifferenceItem(id: "a", theirs: -900)]),
        ]
        #expect(DayComparison.cancelOut(lost))
        let refund = [
            try difference(.refunded, [DifferenceItem(id: "r", ours: -300)]),
            try difference(.reversed, [DifferenceItem(id: "r", ours: 300)]),
        ]
        #expect(DayComparison.cancelOut(lost + refund))
        // Equal sums of two payments hide one that was charged and one that was taken back.
        let hidden = [
            try difference(.captured, [DifferenceItem(id: "a", theirs: 900)]),
            try difference(.reversed, [DifferenceItem(id: "b", theirs: -900)]),
        ]
        #expect(!DayComparison.cancelOut(hidden))
        let schemes = [
            try difference(.captured, [DifferenceItem(id: "a", theirs: 900)]),
            try difference(.reversed, [DifferenceItem(id: "a", theirs: -900)], scheme: nil),
        ]
        #expect(!DayComparison.cancelOut(schemes))
        #expect(try !DayComparison.cancelOut([difference(.captured, [DifferenceItem(id: "a", ours: 1, theirs: 2)])]))
        // Not all of them are named.
        let cut = [
            try difference(.captured, [DifferenceItem(id: "a", theirs: 900)], more: 1),
            try difference(.reversed, [DifferenceItem(id: "a", theirs: -900)]),
        ]
        #expect(!DayComparison.cancelOut(cut))
        var unnamed = lost[0]
        unnamed.items = nil
        #expect(!DayComparison.cancelOut([unnamed]))
    }
}
