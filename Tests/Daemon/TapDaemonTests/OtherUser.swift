// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request by another user, through curl: the kernel is asked for real.
func curl(
    _ folder: TestFolder, uid: UInt32 = 65_534, groups: String, _ arguments: [String]
) async throws -> (status: String, body: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/setpriv")
    process.arguments =
        ["--reuid=\(uid)", "--regid=65534"] + (groups.isEmpty ? ["--clear-groups"] : ["--groups=\(groups)"])
        + ["/usr/bin/curl", "-s", "-m", "60", "-w", "\n%{http_code}", "--unix-socket", folder.path + "/pos.sock"]
        + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    // Not by blocking here: the daemon under test needs the same threads.
    await withCheckedContinuation { ended in
        process.terminationHandler = { _ in ended.resume() }
        do { try process.run() } catch { ended.resume() }
    }
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
    return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
}
