// SPDX-License-Identifier: Apache-2.0
import EMV
import Synchronization

/// Issuer certificates that were recovered before, for one list of CA keys: cards of one issuer carry the same.
///
/// Only what holds for every card with the same bytes is kept: signature, hash, algorithms and key. It holds nothing of
/// a card. The oldest makes room for the newest.
final class KnownIssuers: Sendable {
    private struct Entry: Sendable {
        let rid: [UInt8]
        let caIndex: UInt8
        let certificate: [UInt8]
        let remainder: [UInt8]
        let exponent: [UInt8]
        let issuer: IssuerCertificate

        init(_ request: AuthenticationRequest, _ issuer: IssuerCertificate) {
            rid = request.rid
            caIndex = request.caIndex
            certificate = request.issuerCertificate
            remainder = request.issuerRemainder
            exponent = request.issuerExponent
            self.issuer = issuer
        }

        func isOf(_ request: AuthenticationRequest) -> Bool {
            certificate == request.issuerCertificate && caIndex == request.caIndex && rid == request.rid
                && remainder == request.issuerRemainder && exponent == request.issuerExponent
        }
    }

    let capacity: Int
    private let entries = Mutex<[Entry]>([])

    /// - Parameter capacity: how many certificates are kept; about one kilobyte each.
    init(capacity: Int) { self.capacity = capacity }

    subscript(request: AuthenticationRequest) -> IssuerCertificate? {
        entries.withLock { entries in entries.first { $0.isOf(request) }?.issuer }
    }

    func keep(_ issuer: IssuerCertificate, of request: AuthenticationRequest) {
        guard capacity > 0 else { return }
        entries.withLock { entries in
            guard !entries.contains(where: { $0.isOf(request) }) else { return }
            if entries.count >= capacity { entries.removeFirst(entries.count - capacity + 1) }
            entries.append(Entry(request, issuer))
        }
    }
}
