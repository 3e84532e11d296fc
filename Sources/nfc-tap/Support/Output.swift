import FoundationEssentials
import Glibc

/// Progress and complaints: standard error, so that standard output holds results only.
enum StandardError {
    static func write(_ text: String) { Descriptor.write(text, to: STDERR_FILENO) }

    /// One JSON object on one line.
    static func print(line value: some Encodable) throws { write(try JSONText.line(value) + "\n") }

    /// Whether a person is looking.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Results.
enum StandardOutput {
    static func print(_ text: String) { Descriptor.write(text + "\n", to: STDOUT_FILENO) }

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

private enum Descriptor {
    static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
