// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import LocalHTTP
public import Logging
import PaymentValues

/// Log messages, one line each: `level=info msg="state changed" lane=main …`.
///
/// Where standard error goes to the journal of systemd, each is an entry there: the line as its text, and the message and
/// all that belongs to it as fields of their own, `NFC_TAP_LANE` and the like. Elsewhere, and where the journal does not
/// take it, the line goes to standard error, with the time or, for the journal, the priority in front.
public struct LogOutput: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level
    private let journal: ServiceJournal?
    private let descriptor: Int32

    init(level: Logger.Level, journal: ServiceJournal?, descriptor: Int32 = STDERR_FILENO) {
        logLevel = level
        self.journal = journal
        self.descriptor = descriptor
    }

    /// A logger whose messages below `level` are dropped.
    public static func logger(level: Logger.Level) -> Logger {
        let journal = ServiceJournal()
        return Logger(label: "nfc-tapd") { _ in LogOutput(level: level, journal: journal) }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let message = event.message.description
        let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: $0.value.description) }
        var line = "level=\(event.level.rawValue) msg=\(quoted(message))"
        for (key, value) in all { line += " \(key)=\(quoted(value))" }
        let priority = priority(event.level)
        if let journal {
            let fields: [ServiceJournal.Field] =
                [
                    ("MESSAGE", line), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", "nfc-tapd"),
                    ("NFC_TAP_MESSAGE", message),
                ] + all.map { ("NFC_TAP_\($0.key)", $0.value) }
            if journal.send(fields) { return }
        }
        // A log that nobody takes is lost: there is nobody to tell.
        try? Descriptor.write((journal == nil ? "\(Timestamp.now) " : "<\(priority)>") + line + "\n", to: descriptor)
    }

    /// syslog(3)'s, as sd-daemon(3) takes them in front of a line.
    private func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }

    /// As it is where it is one plain word, else in quotes with everything escaped that could end or split the line.
    private func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x3D }
        if isPlain { return text }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            default: quoted.unicodeScalars.append(scalar.value < 0x20 ? "?" : scalar)
            }
        }
        return quoted + "\""
    }
}
