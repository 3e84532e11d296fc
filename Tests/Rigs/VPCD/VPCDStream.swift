// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Glibc

/// vpcd's wire protocol: a 2-byte big-endian length and that many bytes, both ways.
enum VPCDStream {
    /// Connects to a slot on the loopback interface, for at most half a minute and while it is wanted.
    static func connect(port: UInt16, while isWanted: () -> Bool) throws(RigError) -> Int32? {
        let deadline = rigNow().advanced(byMilliseconds: 30_000)
        while isWanted() {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw .system("socket", errno) }
            // vpcd lets few connections wait; one more would be tried by the kernel for two minutes.
            var patience = timeval(tv_sec: 0, tv_usec: 500_000)
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe Glibc.connect(descriptor, $0, size)
                }
            }
            if result == 0 {
                set(TCP_NODELAY, on: descriptor)
                return descriptor
            }
            let error = errno
            _ = close(descriptor)
            guard rigNow() < deadline else { throw .system("connect", error) }
            usleep(50_000)
        }
        return nil
    }

    /// Answers until the stream ends or the card is gone. A card that says nothing is not answered for either.
    static func serve(_ card: any VirtualCard, on descriptor: Int32) {
        var card = card
        while let payload = receive(from: descriptor) {
            let answer: [UInt8]
            switch payload {
            case [0x00]: continue
            case [0x01], [0x02]:
                card.powerOn()
                continue
            case [0x04]: answer = SyntheticATR.bytes(for: card.activation)
            default:
                switch ReaderPart.answer(payload, by: &card) {
                case .answer(let bytes): answer = bytes
                case .late(let bytes, let milliseconds):
                    usleep(useconds_t(clamping: milliseconds * 1_000))
                    answer = bytes
                case .gone: return
                }
            }
            guard !answer.isEmpty else { continue }
            let length = [UInt8(truncatingIfNeeded: answer.count >> 8), UInt8(truncatingIfNeeded: answer.count)]
            guard UnixStream.send(length + answer, to: descriptor) else { return }
        }
    }

    /// vpcd sends length and payload apart: without a quick ACK for the first, the second waits for 40 ms. The flag
    /// does not last, so it is set before every read.
    private static func receive(from descriptor: Int32) -> [UInt8]? {
        set(TCP_QUICKACK, on: descriptor)
        guard let length = UnixStream.receive(2, from: descriptor) else { return nil }
        set(TCP_QUICKACK, on: descriptor)
        return UnixStream.receive(Int(length[0]) << 8 | Int(length[1]), from: descriptor)
    }

    private static func set(_ option: Int32, on descriptor: Int32) {
        var isOn: Int32 = 1
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), option, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
}
