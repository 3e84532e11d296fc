// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux

/// Somebody else's kernel: a program that reads one script on its standard input and prints a trace.
package struct OutsideKernel: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// The program's own name.
    package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Longest run of one script, in seconds.
    package static let limit = 10

    /// - Returns: a trace with an `E` line where the program cannot be started, does not end in time, or fails.
    package func trace(_ script: CardScript) -> KernelTrace {
        do throws(SystemError) {
            let (isSuccess, output) = try StartedProgram.run(
                "timeout", ["\(OutsideKernel.limit)", path], environment: OutsideKernel.environment,
                input: script.line + [0x0A], keeping: 1_024 * 1_024)
            let trace = KernelTrace(output: String(decoding: output, as: UTF8.self))
            return isSuccess ? trace : KernelTrace(lines: trace.lines + ["E \(name) failed or took too long"])
        } catch {
            return KernelTrace(lines: ["E \(name) cannot be started: \(error)"])
        }
    }

    /// Nothing of ours but where programs are found.
    private static var environment: [String] {
        ["PATH=\(Environment.value("PATH") ?? "/usr/bin:/bin")", "LC_ALL=C.UTF-8"]
    }
}
