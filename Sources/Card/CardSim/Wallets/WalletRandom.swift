// SPDX-License-Identifier: Apache-2.0
internal import Crypto

/// A phone's random values: the same sequence for the same seed, so that a test run can be repeated.
struct WalletRandom: Sendable {
    private let seed: [UInt8]
    /// Values that come before the generated ones, for playing a recorded session.
    private var script: ArraySlice<[UInt8]>
    private var counter: UInt32 = 0

    init(seed: String, script: [[UInt8]] = []) {
        self.seed = Array(seed.utf8)
        self.script = script[...]
    }

    /// 1 to 32 bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        if let scripted = script.popFirst() { return scripted }
        counter &+= 1
        let block = seed + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: counter >> ($0 as UInt32)) }
        return Array(SHA256.hash(data: block).prefix(count))
    }

    /// A P-256 key. A hash is out of range once in 2^32 times; then the next one is taken.
    mutating func key() -> P256.KeyAgreement.PrivateKey {
        while true {
            if let key = try? P256.KeyAgreement.PrivateKey(rawRepresentation: bytes(32)) { return key }
        }
    }
}
