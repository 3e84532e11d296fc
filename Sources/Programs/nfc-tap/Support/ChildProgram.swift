// SPDX-License-Identifier: Apache-2.0
import Linux

/// Another program of this package, started and stopped by this one.
struct ChildProgram {
    private let program: StartedProgram

    /// - Parameter name: of a program in the folder of this one.
    /// - Throws: if the program is missing or cannot be started.
    init(_ name: String, _ arguments: [String]) throws(Failure) {
        guard let path = Environment.beside(name) else {
            throw Failure("cannot find the folder of this program", hint: "mount /proc", exitCode: .unavailable)
        }
        do throws(SystemError) { program = try StartedProgram(path, arguments, output: nil) } catch {
            throw Failure("cannot start \(name)", hint: "install \(path)", exitCode: .unavailable)
        }
    }

    /// Stops the program, and waits until it has ended.
    func end() {
        program.terminate()
        program.waitUntilEnded()
    }
}
