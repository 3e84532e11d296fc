// SPDX-License-Identifier: Apache-2.0
import Envelope
import Glibc
import Journal
import Linux
import PaymentValues

/// `rig-books`: opens journals as a daemon's start does, one after the other, and says what it finds.
///
/// Each line of its input is a folder. The answer is one line: `new` where there is no journal yet, `held` where all is as it was
/// written, or what is wrong.
@main
struct RigBooks {
    static func main() {
        while let folder = readLine() {
            print(words(folder).split(separator: "\n").joined(separator: " "))
            fflush(nil)
        }
    }

    private static func words(_ folder: String) -> String {
        do throws(JournalError) {
            guard let journal = try Journal.begun(in: folder) else { return "new" }
            var faults: [String] = journal.isLogDamaged ? ["a log that no power cut leaves"] : []
            faults += try journal.damagedPayments().map { "payment \($0.id?.text ?? "?") is damaged" }
            faults += try journal.damagedRows().map { "row \($0.key) of \($0.table) is damaged" }
            _ = try journal.unfinished()
            faults += try chain(folder)
            return faults.isEmpty ? "held" : faults.joined(separator: "; ")
        } catch {
            return "\(error)"
        }
    }

    /// What is wrong with the chain; nothing where nobody has signed anything yet.
    private static func chain(_ folder: String) throws(JournalError) -> [String] {
        guard let jwk = try? FileSystem.bytes(of: folder + "/installation.jwk", atMost: 4_096),
            let key = try? VerificationKey(jwk: jwk)
        else { return [] }
        var examination = AuditExamination(file: "\(folder)/\(Journal.fileName)", key: key)
        let stop = StopRequest()
        while true {
            if let faults = try examination.step(stop) {
                // The daemon signs a head a minute, and a start that was cut off has signed none.
                return faults.filter { $0 != .unsigned }.map(\.description)
            }
        }
    }
}
