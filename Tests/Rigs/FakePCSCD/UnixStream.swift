// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Glibc

/// Blocking stream sockets by path, as far as the rigs need them.
enum UnixStream {
    static func listen(at path: String) throws(RigError) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system("socket", errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .pathTooLong(path) }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in unsafe target.copyBytes(from: bytes) }
        _ = unsafe unlink(path)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        guard result == 0, Glibc.listen(descriptor, 64) == 0 else { throw .system("bind", errno) }
        return descriptor
    }

    /// - Returns: `nil` where the stream ended first.
    static func receive(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(descriptor, buffer.baseAddress.map { unsafe $0 + have }, count - have, 0)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            have += got
        }
        return bytes
    }

    static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let put = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress.map { unsafe $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if put < 0, errno == EINTR { continue }
            guard put > 0 else { return false }
            sent += put
        }
        return true
    }

    /// Blocks until the other side has ended the stream.
    static func waitForEnd(of descriptor: Int32) {
        while receive(1, from: descriptor) != nil {}
    }
}

/// The monotonic clock, as readers use it.
func rigNow() -> TapInstant {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return TapInstant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
}
