// SPDX-License-Identifier: Apache-2.0
import FuzzSupport

// Feeds what a hostile phone or tag could send to everything of the loyalty protocols that parses it.
if let folder = Fuzzer.seedFolder {
    WalletSeeds.write(to: folder)
} else {
    unsafe Fuzzer.run { data, count in
        WalletTargets.run(unsafe Fuzzer.bytes(data, count))
        return 0
    }
}
