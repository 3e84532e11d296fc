// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Codes
import Doctor
import FoundationEssentials
import Glibc
import Linux
import PaymentValues
import TapClient

struct DiagnoseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Writes a support bundle about this machine, its readers and the daemon.",
        discussion: """
            The bundle is a tar archive of short texts. Read it before you send it: tar -xOf FILE | less. It holds no card \
            data: the daemon logs none, and the command removes all that looks like a card number or bytes of a card.
            """)

    @Argument(help: ArgumentHelp("The archive to write; the file must not exist yet.", valueName: "file"))
    var file: String

    @OptionGroup var daemon: DaemonChoice

    @OptionGroup var machine: MachineChoice

    @Flag(help: "Print the list of contents as JSON.")
    var json = false

    /// With --json.
    private struct Contents: Encodable {
        let file: String
        let contains: [String]
    }

    func run() async throws {
        let output = try newFile()
        let facts = machine.facts
        var bundle = SupportBundle(facts, findings: Checkup(facts).findings, version: Version.text)
        bundle.add("status.json", await status())
        if machine.root == "/" {
            let words = [
                "journalctl", "--unit=nfc-tapd", "--unit=pcscd", "--lines=500", "--no-pager", "--output=short-iso",
            ]
            bundle.add("log.txt", ProgramRun(words).output)
        }
        let archive = bundle.archive(at: Int64(time(nil)))
        do throws(SystemError) { try output.write(archive) } catch {
            throw Failure("cannot write \(file)", hint: "check the free space on the disk", exitCode: .unavailable)
        }
        if json { return try StandardOutput.print(json: Contents(file: file, contains: bundle.names)) }
        StandardOutput.print("\(file): \(bundle.names.joined(separator: ", "))")
    }

    private func newFile() throws(Failure) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: file, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        } catch {
            throw Failure(
                "cannot create \(file)", hint: "name a new file in a folder that you may write to",
                exitCode: .malformedInput)
        }
    }

    /// As `nfc-tap status --json` prints it, or why there is none.
    private func status() async -> String {
        do throws(TapClientError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let status = try await daemon.client.status()
            return (try? encoder.encode(status)).map { String(decoding: $0, as: UTF8.self) } ?? "not encodable"
        } catch {
            return "\(error.message)\n"
        }
    }
}
