// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A pseudo-terminal in raw mode. The near end is this object's, the far end is for a program that expects a serial line.
final class PseudoTerminal: Sendable {
    let near: Int32
    /// Kept open, so that the line does not hang up between two programs.
    private let far: Int32
    let path: String

    init() throws(PN532RigError) {
        var near: Int32 = -1
        var far: Int32 = -1
        guard unsafe openpty(&near, &far, nil, nil, nil) == 0 else { throw .system(call: "openpty", errno: errno) }
        self.near = near
        self.far = far
        _ = fcntl(near, F_SETFD, FD_CLOEXEC)
        _ = fcntl(far, F_SETFD, FD_CLOEXEC)
        var settings = termios()
        _ = unsafe tcgetattr(far, &settings)
        unsafe cfmakeraw(&settings)
        _ = unsafe tcsetattr(far, TCSANOW, &settings)
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe ttyname_r(far, &name, name.count) == 0 else {
            _ = close(near)
            _ = close(far)
            throw .system(call: "ttyname_r", errno: errno)
        }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Lets the next program open the line although the last one died with an exclusive claim on it. A real line
    /// forgets the claim on its last close; this one is always held open.
    func forgetClaims() { _ = ioctl(far, UInt(TIOCNXCL)) }

    /// What has come from the far end, without waiting.
    func receive() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe read(near, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    /// All of it: a signal to the process must not cost the line a byte.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(near, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    /// Removes the link, unless it leads to another line by now.
    static func removeLink(at link: String, to line: String) {
        var target = [CChar](repeating: 0, count: 128)
        let count = unsafe readlink(link, &target, target.count)
        guard count > 0, target.prefix(count).map({ UInt8(bitPattern: $0) }) == Array(line.utf8) else { return }
        _ = unsafe unlink(link)
    }

    deinit {
        _ = close(near)
        _ = close(far)
    }
}

/// Why the rig cannot be set up.
public enum PN532RigError: Error, Equatable, Sendable {
    case system(call: String, errno: Int32)
}
