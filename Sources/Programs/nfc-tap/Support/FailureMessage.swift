// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// A failure as `--json` shows it: the last line on standard error.
///
/// ```json
/// {"error":{"code":"order.unresolved","exitCode":13,"hint":"…","message":"…"}}
/// ```
struct FailureMessage: Encodable {
    struct Error: Encodable {
        let code: String?
        let exitCode: Int32
        let hint: String?
        let message: String
    }

    let error: Error

    init(_ failure: Failure) {
        error = Error(
            code: failure.code, exitCode: failure.exitCode.rawValue, hint: failure.hint, message: failure.phrase)
    }

    /// What the arguments could not be taken for.
    init(usage message: String, exitCode: ExitCode) {
        error = Error(
            code: nil, exitCode: exitCode.rawValue, hint: "see the command's --help", message: message)
    }

    /// In words if it cannot be written as JSON: a failure is never silent.
    func report() {
        do { try StandardError.print(line: self) } catch {
            StandardError.write("nfc-tap: error: \(self.error.message)\n")
        }
    }

    /// Whether the caller is a program. The arguments themselves say so, for some failures are theirs.
    static var isWanted: Bool {
        CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
    }
}
