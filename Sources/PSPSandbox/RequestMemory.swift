// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What was answered to which key: the same request gets the same answer, for as long as the sandbox runs.
struct RequestMemory {
    enum Recall {
        case new
        /// The same request is being worked on.
        case running
        /// The key was used for other content.
        case otherContent
        case answered(SandboxAnswer)
    }

    private struct Entry {
        let digest: [UInt8]
        var answer: SandboxAnswer?
    }

    private var entries: [String: Entry] = [:]

    /// Looks the key up and, where it is new, marks it as running. A key counts for one path.
    mutating func begin(path: String, key: String, body: [UInt8]) -> Recall {
        let name = path + "\n" + key
        let digest = Array(SHA256.hash(data: body))
        guard let entry = entries[name] else {
            entries[name] = Entry(digest: digest)
            return .new
        }
        guard entry.digest == digest else { return .otherContent }
        return entry.answer.map { .answered($0) } ?? .running
    }

    mutating func finish(path: String, key: String, with answer: SandboxAnswer) {
        entries[path + "\n" + key]?.answer = answer
    }

    /// As if the request had never come.
    mutating func forget(path: String, key: String) { entries[path + "\n" + key] = nil }
}
