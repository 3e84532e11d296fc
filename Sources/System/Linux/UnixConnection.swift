// SPDX-License-Identifier: Apache-2.0
import Glibc

/// One end of a connection between Unix sockets, and the other one, as sock_diag(7) tells of them.
package struct UnixConnection: Equatable, Sendable {
    /// Where this end's listener is bound; a client has no path.
    package let path: String
    /// Of the other end: the inode that /proc/PID/fd names it by.
    package let peer: UInt32

    package init(path: String, peer: UInt32) { (self.path, self.peer) = (path, peer) }

    /// All connections of this network namespace whose one end has a path.
    ///
    /// - Throws: where the kernel does not say: it may be built without unix_diag, or forbid the question.
    package static func all() throws(SystemError) -> [UnixConnection] {
        let number = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), socketDiagnosis)
        guard number >= 0 else { throw .last }
        let kernel = Descriptor(owning: number)
        try kernel.write(request)
        var found: [UnixConnection] = []
        while true {
            var watched = [pollfd(fd: kernel.number, events: Int16(POLLIN), revents: 0)]
            let limit = MachineClock.awake + 1_000_000_000
            guard case .ready = Poll.wait(&watched, untilNanoseconds: limit) else { throw SystemError(code: ETIMEDOUT) }
            let answer = try kernel.read(atMost: 65_536)
            let (connections, isLast) = try parse(answer)
            found += connections
            if isLast { return found }
        }
    }

    /// NETLINK_SOCK_DIAG
    private static let socketDiagnosis: Int32 = 4
    private static let headerLength = 16

    /// nlmsghdr, then unix_diag_req: sockets in all states, with names and peers.
    private static var request: [UInt8] {
        let byFamily: UInt16 = 20
        let requestAndDump: UInt16 = 0x301
        let namesAndPeers: UInt32 = 0x1 | 0x4
        let question =
            [UInt8(AF_UNIX), 0, 0, 0] + native(UInt32.max) + native(UInt32(0)) + native(namesAndPeers)
            + native(UInt64(0))
        let length = UInt32(headerLength + question.count)
        return native(length) + native(byFamily) + native(requestAndDump) + native(UInt64(1)) + question
    }

    private static func native(_ number: some FixedWidthInteger) -> [UInt8] {
        unsafe withUnsafeBytes(of: number) { unsafe Array($0) }
    }

    /// Reads one datagram of the kernel's answer.
    ///
    /// - Returns: the connections in it, and whether it is the last one. What is cut short is left out.
    /// - Throws: what the kernel refuses with.
    static func parse(_ datagram: [UInt8]) throws(SystemError) -> (connections: [UnixConnection], isLast: Bool) {
        var connections: [UnixConnection] = []
        var rest = datagram[...]
        while let length: UInt32 = number(rest), length >= headerLength, length <= rest.count {
            let message = rest.prefix(Int(length))
            let type: UInt16 = number(message.dropFirst(4)) ?? 0
            switch type {
            case 2:
                // NLMSG_ERROR: a negative errno.
                let code: UInt32 = number(message.dropFirst(headerLength)) ?? 0
                throw SystemError(code: 0 &- Int32(bitPattern: code))
            case 3: return (connections, true)
            default: if let found = connection(message.dropFirst(headerLength + 16)) { connections.append(found) }
            }
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        // A datagram without a message would be followed by another for ever.
        return (connections, datagram.count < headerLength)
    }

    /// The attributes behind a unix_diag_msg: a length, a type and a value each, filled up to four bytes.
    private static func connection(_ attributes: ArraySlice<UInt8>) -> UnixConnection? {
        var rest = attributes
        var path: String?
        var peer: UInt32?
        while let length: UInt16 = number(rest), length >= 4, length <= rest.count,
            let type: UInt16 = number(rest.dropFirst(2))
        {
            let value = rest.prefix(Int(length)).dropFirst(4)
            switch type {
            case 0: path = String(decoding: value.prefix { $0 != 0 }, as: UTF8.self)
            case 2: peer = number(value)
            default: break
            }
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        guard let path, !path.isEmpty, let peer, peer != 0 else { return nil }
        return UnixConnection(path: path, peer: peer)
    }

    /// The first bytes in the machine's order; `nil` where there are too few.
    private static func number<Number: FixedWidthInteger>(_ bytes: ArraySlice<UInt8>) -> Number? {
        let size = MemoryLayout<Number>.size
        guard bytes.count >= size else { return nil }
        var number = Number.zero
        unsafe withUnsafeMutableBytes(of: &number) { unsafe $0.copyBytes(from: bytes.prefix(size)) }
        return number
    }
}
