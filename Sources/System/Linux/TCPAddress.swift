// SPDX-License-Identifier: Apache-2.0
import Glibc

/// An address and a port, as numbers: `127.0.0.1:20007`, `[::1]:8888`. Names are not looked up.
package struct TCPAddress: Equatable, Sendable, CustomStringConvertible {
    /// As inet_ntop(3) writes it.
    package let host: String
    package let port: UInt16

    private var isVersion6: Bool { host.contains(":") }

    /// `nil` for everything else, a port 0 included.
    ///
    /// - Parameter anyPort: port 0 is allowed: whichever the system has free.
    package init?(_ text: String, anyPort: Bool = false) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            port > 0 || anyPort
        else { return nil }
        let name = text[..<colon]
        let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
        let bare = isBracketed ? String(name.dropFirst().dropLast()) : String(name)
        guard bare.contains(":") == isBracketed, let host = TCPAddress.normalized(host: bare) else { return nil }
        self.host = host
        self.port = port
    }

    package var description: String { isVersion6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Only programs on this machine get there.
    package var isLoopback: Bool { TCPAddress.isLoopback(host) }

    /// The same of a host as `host(ofPeer:)` gives it.
    package static func isLoopback(_ host: String) -> Bool { host == "::1" || host.hasPrefix("127.") }

    /// The one way to write this address; `nil` for what is none.
    package static func normalized(host: String) -> String? {
        let family = host.contains(":") ? AF_INET6 : AF_INET
        var bytes = [UInt8](repeating: 0, count: 16)
        guard unsafe inet_pton(family, host, &bytes) == 1 else { return nil }
        return text(bytes, family)
    }

    /// Where a socket listens; `nil` for one that has no such address.
    package init?(ofListener socket: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getsockname(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
        }
        guard result == 0, let host = TCPAddress.host(of: storage) else { return nil }
        self.host = host
        // Both families have the port in the same place, in network order.
        port = unsafe withUnsafeBytes(of: storage) { unsafe UInt16($0[2]) << 8 | UInt16($0[3]) }
    }

    /// Who is at the other end of a connection, without its port; `nil` where that is nobody with an address.
    package static func host(ofPeer socket: Int32) -> String? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe getpeername(socket, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
        }
        return result == 0 ? host(of: storage) : nil
    }

    private static func host(of storage: sockaddr_storage) -> String? {
        unsafe withUnsafeBytes(of: storage) { bytes -> String? in
            switch Int32(storage.ss_family) {
            case AF_INET: return unsafe text(Array(bytes[4..<8]), AF_INET)
            case AF_INET6:
                let address = unsafe Array(bytes[8..<24])
                // One that came by version 4 to a listener for both.
                let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
                return address.starts(with: mapped) ? text(Array(address[12...]), AF_INET) : text(address, AF_INET6)
            default: return nil
            }
        }
    }

    private static func text(_ bytes: [UInt8], _ family: Int32) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        guard unsafe inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// In the kernel's form: family, port in network order, and the address where its family has it.
    fileprivate func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        storage.ss_family = sa_family_t(isVersion6 ? AF_INET6 : AF_INET)
        let length = isVersion6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            unsafe bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            let place = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[(isVersion6 ? 8 : 4)...])
            _ = unsafe inet_pton(isVersion6 ? AF_INET6 : AF_INET, host, place.baseAddress)
        }
        return unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(length)) }
        }
    }
}

extension Descriptor {
    /// A socket that listens at an address.
    ///
    /// - Throws: `EADDRINUSE` where somebody else does, `EADDRNOTAVAIL` for an address that is not this machine's.
    package static func listening(at address: TCPAddress, isBlocking: Bool = true) throws(SystemError) -> Descriptor {
        let family = address.host.contains(":") ? AF_INET6 : AF_INET
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(family, kind | (isBlocking ? 0 : Int32(SOCK_NONBLOCK.rawValue)), 0)
        guard number >= 0 else { throw .last }
        let socket = Descriptor(owning: number)
        // A program that was started anew gets its port back at once.
        var isOn: Int32 = 1
        _ = unsafe setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe address.withSocketAddress({ unsafe Glibc.bind(number, $0, $1) }) == 0 else { throw .last }
        guard Glibc.listen(number, 128) == 0 else { throw .last }
        return socket
    }

    /// A connection to an address.
    ///
    /// - Throws: `ECONNREFUSED` where nobody listens.
    package static func connected(to address: TCPAddress) throws(SystemError) -> Descriptor {
        let family = address.host.contains(":") ? AF_INET6 : AF_INET
        let number = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .last }
        let socket = Descriptor(owning: number)
        guard unsafe address.withSocketAddress({ unsafe Glibc.connect(number, $0, $1) }) == 0 else { throw .last }
        return socket
    }

    /// The next connection; waits for it.
    package func accept() throws(SystemError) -> Descriptor {
        while true {
            let accepted = Glibc.accept(number, nil, nil)
            if accepted < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard accepted >= 0 else { throw .last }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            return Descriptor(owning: accepted)
        }
    }
}
