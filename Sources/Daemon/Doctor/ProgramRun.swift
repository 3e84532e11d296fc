// SPDX-License-Identifier: Apache-2.0
import Linux

/// A program run to its end: system tools that apply a fix or know something for the support bundle.
public struct ProgramRun {
    public let succeeded: Bool
    /// The first MiB of standard output.
    public let output: String

    /// Runs `words[0]`, found by PATH, with the rest as arguments, without a shell and without input. Its complaints go to
    /// our standard error.
    public init(_ words: [String]) {
        let environment = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "SYSTEMD_PAGER="]
        guard let program = words.first,
            let run = try? StartedProgram.run(
                program, Array(words.dropFirst()), environment: environment, keeping: 1_024 * 1_024)
        else {
            (succeeded, output) = (false, "")
            return
        }
        (succeeded, output) = (run.isSuccess, String(decoding: run.output, as: UTF8.self))
    }
}
