// SPDX-License-Identifier: Apache-2.0
import FuzzSupport

// Feeds changed answers of cards with real keys, and made-up certificates, to the real RSA, ECC and AES.
if let folder = Fuzzer.seedFolder {
    CryptoSeeds.write(to: folder)
} else {
    unsafe Fuzzer.run { data, count in
        CryptoTargets.run(unsafe Fuzzer.bytes(data, count))
        return 0
    }
}
