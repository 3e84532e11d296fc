// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc
import Linux

/// Progress and complaints: standard error, so that standard output holds results only.
enum StandardError {
    static func write(_ text: String) { try? Descriptor.write(text, to: STDERR_FILENO) }

    /// One JSON object on one line.
    static func print(line value: some Encodable) throws { write(try JSONText.line(value) + "\n") }

    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Results.
enum StandardOutput {
    static func print(_ text: String) { try? Descriptor.write(text.shown + "\n", to: STDOUT_FILENO) }

    /// With commands to the terminal, all of them of this program.
    static func print(coloured text: String) { try? Descriptor.write(text + "\n", to: STDOUT_FILENO) }

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

extension String {
    /// For people: what a file, a card or a till says may hold commands to the terminal (ECMA-48), which must not reach it.
    var shown: String {
        func isShown(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory != .control || scalar == "\n" || scalar == "\t"
        }
        guard !unicodeScalars.allSatisfy(isShown) else { return self }
        var shown = String.UnicodeScalarView()
        for scalar in unicodeScalars { shown.append(isShown(scalar) ? scalar : "\u{FFFD}") }
        return String(shown)
    }
}
