// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// Remembers for a while which passes were read, as keyed fingerprints only, so that one presentation does not count
/// twice. Lives as long as its lane.
public struct RereadMemory: Sendable {
    private struct Entry: Sendable {
        let fingerprint: [UInt8]
        let until: TapInstant
    }

    /// Older fingerprints give way.
    static let capacity = 256

    private let key = SymmetricKey(size: .bits256)
    private var entries: [Entry] = []

    public init() {}

    /// Turns delivered passes that were read a moment ago into `.repeated` and takes them out of `outcome`; notes the
    /// others. A sealed pass looks different every time and is never taken for a repetition.
    public mutating func apply(to outcome: inout LoyaltyOutcome, request: LoyaltyRequest, now: TapInstant) {
        entries.removeAll { $0.until <= now }
        for index in outcome.entries.indices where outcome.entries[index].status == .delivered {
            let id = outcome.entries[index].programme
            guard let programme = request.programmes.first(where: { $0.id == id }),
                programme.rereadDelayMilliseconds > 0, let member = outcome.entries[index].pass?.member
            else { continue }
            let fingerprint = fingerprint(of: member, programme: id)
            if entries.contains(where: { $0.fingerprint == fingerprint }) {
                outcome.entries[index].status = .repeated
                outcome.entries[index].pass = nil
                continue
            }
            if entries.count >= RereadMemory.capacity { entries.removeFirst() }
            entries.append(
                Entry(
                    fingerprint: fingerprint,
                    until: now.advanced(byMilliseconds: programme.rereadDelayMilliseconds)))
        }
    }

    private func fingerprint(of member: SecretBytes, programme: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Array(programme.utf8) + [0x00])
        unsafe member.withUnsafeBytes { bytes in unsafe code.update(data: bytes) }
        return Array(code.finalize())
    }
}
