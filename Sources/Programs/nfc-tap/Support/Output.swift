// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Linux

/// Progress and complaints: standard error, so that standard output holds results only.
enum StandardError {
    static func write(_ text: String) { try? Descriptor.write(text, to: STDERR_FILENO) }

    /// With commands to the terminal, all of them of this program: what others say is `shown` before.
    static func write(coloured text: String) { try? Descriptor.write(Array(text.utf8), to: STDERR_FILENO) }

    /// One JSON object on one line.
    static func print(line value: some Encodable) throws { write(try JSONText.line(value) + "\n") }

    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Results.
enum StandardOutput {
    static func print(_ text: String) { try? Descriptor.print(text) }

    /// With commands to the terminal, all of them of this program: what others say is `shown` before.
    static func print(coloured text: String) { write(Array("\(text)\n".utf8)) }

    /// As they are: a picture, or a printer's commands.
    static func write(_ bytes: [UInt8]) { try? Descriptor.write(bytes, to: STDOUT_FILENO) }

    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// One JSON object on one line.
    static func print(line value: some Encodable) throws { print(try JSONText.line(value)) }

    static func print(json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

private enum JSONText {
    static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
