// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import ExampleKernel
import Synchronization
import TestSupport
import Testing

/// The kernel of docs/examples/kernel, compiled by the public API alone, before cards whose certificates are verified.
@Suite("The example of a kernel of one's own")
struct ExampleKernelTests {
    /// The test terminal, in which the example stands in the place of kernel 2.
    private func entryPoint(_ authentication: OfflineAuthentication = .using(.test)) -> EntryPoint {
        var kernels = KernelSet.standard
        kernels.register(.mastercard) { ExampleKernel() }
        return EntryPoint(
            configuration: .test,
            transaction: Transaction(
                amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 6, day: 7),
                time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x0102_0304]), authentication: authentication, kernels: kernels)
    }

    private func tap(_ name: String, _ authentication: OfflineAuthentication = .using(.test)) throws -> Tap {
        var machine = entryPoint(authentication)
        return try Tap.run(&machine, card: Tap.catalogueCard(name))
    }

    @Test func `it sees the public API only`() throws {
        let source = try Checkout.text("docs/examples/kernel/ExampleKernel.swift")
        let imports = source.matches(of: /(?m)^(.*)import (\w+)$/).map { "\($0.output.1)\($0.output.2)" }
        #expect(imports == ["public CardBytes", "public EMV"])
    }

    @Test func `a card that signs is asked for a signature, which is verified, and its cryptogram is the issuer's`()
        throws
    {
        let tap = try tap("mastercard")
        #expect(tap.outcome.status == .onlineRequest)
        #expect(tap.commandTexts.last?.hasPrefix("80AE90") == true)
        let record = try #require(tap.outcome.dataRecord)
        #expect(TestIssuer.verify(record.map { ($0.tag, $0.value) }) == .verified)
        #expect(tap.outcome.unmatchedKey == nil)
    }

    @Test func `a wrong signature ends the application`() throws {
        let tap = try tap("mastercard-bad-signature")
        #expect(tap.outcome.status == .endApplication)
        #expect(tap.outcome.error.l2 == .camFailed)
        #expect(tap.outcome.dataRecord == nil)
    }

    @Test func `without a CA key no signature is asked for, and the key is named`() throws {
        let tap = try tap("mastercard", .unavailable)
        #expect(tap.commandTexts.last?.hasPrefix("80AE80") == true)
        #expect(tap.outcome.unmatchedKey?.isExpired == false)
    }

    @Test(arguments: ["mastercard", "mastercard-nocda"])
    func `whatever happens to any answer, there is an outcome`(name: String) throws {
        var disturbances = Disturbances(seed: 28)
        let sizes = try tap(name).sizes
        for (step, size) in sizes.enumerated() {
            for disturbance in disturbances.list(size: size, flips: 12, randoms: 6) {
                var machine = entryPoint()
                let tap = try Tap.run(&machine, disturb: (step, disturbance), card: Tap.catalogueCard(name))
                #expect(tap.isFinal, "step \(step), \(disturbance)")
            }
        }
    }

    @Test func `a kernel is told at which start the pass began`() throws {
        let log = StartLog.Log()
        var kernels = KernelSet.standard
        kernels.register(.visa) { StartLog(log: log) }
        for (first, second) in [(StartPoint.a, StartPoint.b), (.a, .c), (.a, .d), (.b, .b)] {
            log.starts.withLock { $0 = [] }
            log.restart.withLock { $0 = second }
            var machine = EntryPoint(
                configuration: .test,
                transaction: Transaction(
                    amount: 1_250, currency: 978, exponent: 2, country: 276,
                    date: EMVDate(year: 2026, month: 6, day: 7),
                    time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
                unpredictableNumbers: .fixed([1]), kernels: kernels, startingAt: first)
            _ = try Tap.run(&machine, card: Tap.catalogueCard("visa"))
            #expect(log.starts.withLock { $0 } == [first, second])
        }
    }
}

/// Tries again once, from the start it is told, and keeps where each pass began.
private struct StartLog: Kernel {
    final class Log: Sendable {
        let starts = Mutex<[StartPoint]>([])
        let restart = Mutex(StartPoint.b)
    }

    let log: Log

    mutating func start(_ activation: KernelActivation, now: TapInstant) -> KernelStep {
        let passes = log.starts.withLock {
            $0.append(activation.start)
            return $0.count
        }
        guard passes > 1 else {
            return KernelStep(.finished(Outcome(.tryAgain, start: log.restart.withLock { $0 })))
        }
        return KernelStep(.finished(Outcome(.approved)))
    }

    mutating func received(_ response: ResponseAPDU, now: TapInstant) -> KernelStep {
        KernelStep(.finished(Outcome(.endApplication)))
    }

    mutating func cardLost(now: TapInstant) -> KernelStep { KernelStep(.finished(Outcome(.endApplication))) }

    mutating func stop(now: TapInstant) -> Outcome { Outcome(.endApplication) }
}
