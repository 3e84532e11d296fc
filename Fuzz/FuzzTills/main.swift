// SPDX-License-Identifier: Apache-2.0
import FuzzSupport

// Feeds what anybody on a till's line could send to the terminal's machines, with a daemon that answers at any moment.
if let folder = Fuzzer.seedFolder {
    TillTarget.writeSeeds(to: folder)
} else {
    unsafe Fuzzer.run { data, count in
        TillTarget.run(unsafe Fuzzer.bytes(data, count))
        return 0
    }
}
