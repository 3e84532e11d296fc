// SPDX-License-Identifier: Apache-2.0
import Logging
import Synchronization

/// Keeps what a daemon logs, to look into.
final class KeptLog: Sendable {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let log: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            log.kept.withLock {
                $0.append(
                    Line(
                        level: event.level, message: event.message.description,
                        metadata: all.mapValues(\.description)))
            }
        }
    }

    private let kept = Mutex<[Line]>([])

    var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self) } }

    var all: [Line] { kept.withLock { $0 } }

    func lines(_ message: String) -> [Line] { kept.withLock { $0.filter { $0.message == message } } }
}
