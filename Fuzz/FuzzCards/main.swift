// SPDX-License-Identifier: Apache-2.0
import FuzzSupport

// Feeds what a hostile payment card could send to everything that parses it.
if let folder = Fuzzer.seedFolder {
    Seeds.write(to: folder, transcripts: CommandLine.arguments.dropFirst(3).first ?? "")
} else {
    unsafe Fuzzer.run { data, count in
        CardTargets.run(unsafe Fuzzer.bytes(data, count))
        return 0
    }
}
