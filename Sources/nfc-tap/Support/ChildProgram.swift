import Linux

/// Another program of this package, run by this one and ended with it.
struct ChildProgram {
    private let program: StartedProgram

    /// - Parameter name: of a program in the folder of this one.
    /// - Throws: where it is not there or cannot be started.
    init(_ name: String, _ arguments: [String]) throws(Failure) {
        guard let path = Environment.beside(name) else {
            throw Failure("own folder not known", hint: "is /proc mounted?", exitCode: .unavailable)
        }
        do throws(SystemError) { program = try StartedProgram(path, arguments, output: nil) } catch {
            throw Failure("\(name) not started", hint: "is \(path) installed?", exitCode: .unavailable)
        }
    }

    /// Asks it to end, and waits until it has.
    func end() {
        program.terminate()
        program.waitUntilEnded()
    }
}
