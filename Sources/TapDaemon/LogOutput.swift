import Glibc
public import Logging
import Wire

/// Log messages to standard error, one line each: `level=info msg="state changed" lane=main …`. In front of it the time,
/// or for journald, which has a clock of its own, the priority.
public struct LogOutput: LogHandler {
    private static let isJournal = unsafe getenv("JOURNAL_STREAM") != nil

    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level

    /// A logger whose messages below `level` are dropped.
    public static func logger(level: Logger.Level) -> Logger {
        Logger(label: "nfc-tapd") { _ in LogOutput(logLevel: level) }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var line = Self.isJournal ? "<\(priority(event.level))>" : "\(Timestamp.now) "
        line += "level=\(event.level.rawValue) msg=\(quoted(event.message.description))"
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(quoted(value.description))" }
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
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
