import Glibc

/// Another program of this package, started and stopped by this one.
struct ChildProgram {
    private let process: pid_t

    /// - Parameter name: of a program in the folder of this one.
    /// - Throws: if the program is missing or cannot be started.
    init(_ name: String, _ arguments: [String]) throws(Failure) {
        guard let folder = ChildProgram.folder else {
            throw Failure("cannot find the folder of this program", hint: "mount /proc", exitCode: .unavailable)
        }
        let path = "\(folder)/\(name)"
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            _ = unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        let words = [path] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        var child: pid_t = 0
        let result = unsafe posix_spawn(&child, path, &actions, nil, &pointers, environ)
        guard result == 0 else {
            throw Failure("cannot start \(name)", hint: "install \(path)", exitCode: .unavailable)
        }
        process = child
    }

    /// Stops the program, and waits until it has ended.
    func end() {
        _ = kill(process, SIGTERM)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    private static var folder: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: path.prefix(slash), as: UTF8.self)
    }
}
