// SPDX-License-Identifier: Apache-2.0
import CardSim
import Loyalty
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

@Suite struct PollingFrameTests {
    /// Frames seen on the air, without their checksums.
    static let frames: [(LoyaltyRequest.Purpose, String)] = [
        (.passes, "6A01000002"), (.passesAndPayment(stopOnPass: true), "6A01000000"),
        (.passesAndPayment(stopOnPass: false), "6A01000001"),
    ]

    @Test(arguments: frames)
    func `while a pass is wanted the reader broadcasts so, and afterwards nothing`(
        purpose: LoyaltyRequest.Purpose, frame: String
    ) throws {
        let bench = try LoyaltyBench()
        try bench.present("apple-pass")
        var seen: Set<String> = []
        _ = try bench.tap(purpose).run(on: bench.reader, cancellation: bench.cancellation) { _ in
            seen.insert(PollingFrameTests.broadcast(bench))
        }
        #expect(seen == [frame])
        #expect(PollingFrameTests.broadcast(bench) == "-")
    }

    @Test func `after a read that was given up nothing is broadcast either`() throws {
        let bench = try LoyaltyBench()
        bench.cancellation.cancel()
        #expect(throws: ReaderError.cancelled) { try bench.run(try bench.tap()) }
        #expect(PollingFrameTests.broadcast(bench) == "-")
    }

    @Test func `once the passes are there the reader asks for payment only`() throws {
        let bench = try LoyaltyBench()
        try bench.present("apple-pass", payment: "visa")
        let tap = try #require(
            PassAndPaymentTap(
                loyalty: try bench.tap(.passesAndPayment(stopOnPass: false)), payment: try TapBench().tap))
        var frames: [String] = []
        let ending = tap.run(
            on: bench.reader, cancellation: bench.cancellation,
            onLoyaltySignal: { _ in frames.append(PollingFrameTests.broadcast(bench)) },
            onSignal: { _ in frames.append(PollingFrameTests.broadcast(bench)) }, deliverPasses: { _ in },
            deliverPayment: { _ in })
        #expect(ending == .paid)
        let change = try #require(frames.firstIndex(of: "6A01000003"))
        #expect(Set(frames[..<change]) == ["6A01000001"])
        #expect(Set(frames[change...]) == ["6A01000003"])
        #expect(PollingFrameTests.broadcast(bench) == "-")
    }

    private static func broadcast(_ bench: LoyaltyBench) -> String {
        let state = (try? bench.control.obey("state")) ?? ""
        let field = state.split(separator: " ").first { $0.hasPrefix("broadcast=") }
        return field.map { String($0.dropFirst("broadcast=".count)) } ?? "?"
    }
}
