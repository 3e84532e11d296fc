// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import Envelope
import Synchronization

/// The Visa cards that one reader, or several, have read a moment ago: by a digest under a key of their own, for as long as
/// their time has not passed.
public final class RecentCards: Sendable {
    private struct Read {
        let mark: [UInt8]
        let until: TapInstant
    }

    private let marker = CardFingerprinter()
    private let milliseconds: UInt64
    private let reads = Mutex<[Read]>([])

    /// - Parameter milliseconds: for so long after a read the same card is refused.
    public init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// The same kernels, with a kernel 3 that refuses these cards.
    func guarding(_ kernels: KernelSet) -> KernelSet {
        var kernels = kernels
        kernels.register(.visa) { [self] in
            Kernel3(
                options: Kernel3Options(
                    doubleTaps: DoubleTapGuard { [self] pan, now in
                        let mark = marker.mark(of: pan)
                        return reads.withLock { reads in
                            reads.removeAll { $0.until <= now }
                            return reads.contains { $0.mark == mark }
                        }
                    }))
        }
        return kernels
    }

    /// A read that goes to the payment service.
    func note(_ final: FinalOutcome, at now: TapInstant) {
        guard let record = final.outcome.dataRecord else { return }
        let read = Read(
            mark: marker.mark(of: AccountData(record).digits), until: now.advanced(byMilliseconds: milliseconds))
        reads.withLock { $0.append(read) }
    }
}

extension RecentCards: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}
