// SPDX-License-Identifier: Apache-2.0

/// An outbox on disk: a line for each change.
///
/// What was added is on the disk before it is sent. That something was sent need not be: it is sent once more then.
package final class OutboxFile {
    package typealias Failure = LineFile<Outbox.Line>.Failure

    /// Lines beyond which the file is written anew when nothing waits, and in any case beyond ten times as many.
    private static let longest = 2_000

    private let file: LineFile<Outbox.Line>

    /// Opens the file, or makes it. A line that was cut off at its end was never promised; one that is damaged is left out, and counted.
    package static func open(
        _ path: String, life: Int
    ) throws(Failure) -> (file: OutboxFile, outbox: Outbox, damaged: Int) {
        var outbox = Outbox(life: life)
        let (file, damaged) = try LineFile<Outbox.Line>.open(path) { outbox.read($0) }
        return (OutboxFile(file), outbox, damaged)
    }

    private init(_ file: LineFile<Outbox.Line>) { self.file = file }

    /// Adds lines.
    ///
    /// - Parameter isSynced: they are on the disk afterwards.
    package func write(_ added: [Outbox.Line], isSynced: Bool) throws(Failure) {
        try file.write(added, isSynced: isSynced)
    }

    /// Writes the file anew where most of it says nothing any more.
    package func renew(_ outbox: Outbox) throws(Failure) {
        let longest = OutboxFile.longest
        guard file.count > longest, outbox.waiting.isEmpty || file.count > 10 * longest else { return }
        try file.replace(with: outbox.lines)
    }
}
