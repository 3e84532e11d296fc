// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A TCP connection on which messages of a known length go both ways.
package struct StreamConnection: ~Copyable {
    private let socket: Descriptor

    /// - Parameter port: a number or the name of a service.
    /// - Returns: `nil` where nobody listens. Does not try again.
    package init?(host: String, port: String) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var next = unsafe list
        while let entry = unsafe next {
            let address = unsafe entry.pointee
            let number = unsafe Glibc.socket(
                address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            if number >= 0 {
                if unsafe connect(number, address.ai_addr, address.ai_addrlen) == 0 {
                    socket = Descriptor(owning: number)
                    // Each message is sent at once, whole.
                    set(TCP_NODELAY)
                    return
                }
                _ = close(number)
            }
            unsafe next = address.ai_next
        }
        return nil
    }

    /// Waits for exactly `count` bytes and acknowledges each piece at once; `nil` where the other side has gone.
    package func receive(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            // Does not last, so that it is set before every read.
            set(TCP_QUICKACK)
            guard let piece = try? socket.read(atMost: count - bytes.count), !piece.isEmpty else { return nil }
            bytes += piece
        }
        return bytes
    }

    /// Whether all of it was taken.
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = unsafe Glibc.send(socket.number, rest, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func set(_ option: Int32) {
        var isOn: Int32 = 1
        _ = unsafe setsockopt(
            socket.number, Int32(IPPROTO_TCP), option, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
}
