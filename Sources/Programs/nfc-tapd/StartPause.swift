// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Logging

/// Grows the pause between starts that come to nothing. systemd 252 has one pause for all of them (`RestartSec=`); longer
/// ones it knows from version 254 on (`RestartSteps=`, `RestartMaxDelaySec=`). So the daemon counts its starts in the folder
/// of the journal, since the machine was started, and waits before it tries again. Only for a service manager.
struct StartPause: Sendable {
    /// A run that lasted so long was no failure.
    static let goodRun: Duration = .seconds(60)
    static let longest: Duration = .seconds(60)
    private static let fileName = "nfc-tapd.starts"
    private let path: String?
    private let boot: String

    init(folder: String) {
        path = Environment.value("NOTIFY_SOCKET") == nil ? nil : folder + "/" + StartPause.fileName
        boot = Environment.value("NFC_TAP_BOOT_ID") ?? "-"
    }

    /// - Parameter failures: starts in a row that came to nothing.
    static func length(after failures: Int) -> Duration {
        // The first two may be a race with another service.
        guard failures > 2 else { return .zero }
        return min(longest, .seconds(1 << min(failures - 3, 8)))
    }

    /// Counts this start, and waits as long as those before make it.
    func wait(_ logger: Logger) async {
        guard let path else { return }
        let before = (try? FileSystem.beginning(of: path, 128)) ?? []
        let words = String(decoding: before, as: UTF8.self).split(separator: " ")
        let failures = words.last.map(String.init) == boot ? words.first.flatMap { Int($0) } ?? 0 : 0
        keep(min(failures, 1_000_000) + 1, path)
        let length = StartPause.length(after: failures)
        guard length > .zero else { return }
        logger.warning(
            "starts came to nothing, waiting before the next", metadata: ["starts": "\(failures)", "wait": "\(length)"])
        try? await Task.sleep(for: length)
    }

    /// The run was one: the next start waits for nothing.
    func forget() {
        guard let path else { return }
        try? FileSystem.remove(path)
    }

    /// Best effort: without the count the service manager's own pause remains.
    private func keep(_ count: Int, _ path: String) {
        guard let file = try? Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600) else {
            return
        }
        try? file.write(Array("\(count) \(boot)".utf8))
    }
}
