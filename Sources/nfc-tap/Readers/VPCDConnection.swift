import CardBytes
import CardSim
import Glibc

/// Where vpcd listens.
struct VPCDEndpoint {
    let host: String
    let port: String

    /// `HOST:PORT`; an IPv6 address in brackets.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let number = UInt16(text[text.index(after: colon)...]), number > 0
        else { return nil }
        var name = String(text[..<colon])
        if name.hasPrefix("["), name.hasSuffix("]") { name = String(name.dropFirst().dropLast()) }
        guard !name.isEmpty else { return nil }
        host = name
        port = String(number)
    }
}

/// A card's connection to vsmartcard's vpcd: two bytes of length (big-endian) and that many bytes, both ways. A single
/// byte 00, 01, 02 or 04 switches off, on, resets, or asks for the ATR; all else is a command.
final class VPCDConnection {
    private let descriptor: Int32

    /// Tries for five seconds; `nil` where nobody listens.
    init?(_ endpoint: VPCDEndpoint) {
        for _ in 0..<100 {
            if let connected = VPCDConnection.connect(endpoint) {
                descriptor = connected
                set(TCP_NODELAY)
                return
            }
            usleep(50_000)
        }
        return nil
    }

    deinit { _ = close(descriptor) }

    /// Answers until vpcd goes, the card leaves or has been used often enough.
    ///
    /// - Parameter uses: a use ends when the reader switches off or resets a card that it has spoken to.
    func serve(_ card: any VirtualCard, uses: Int?) {
        var card = card
        var isInUse = false
        var left = uses
        while let payload = receive() {
            let answer: [UInt8]
            switch payload {
            case [0x00], [0x01], [0x02]:
                if payload != [0x00] { card.powerOn() }
                guard isInUse else { continue }
                isInUse = false
                left = left.map { $0 - 1 }
                if left == 0 { return }
                continue
            case [0x04]: answer = VPCDConnection.answerToReset(card.activation)
            default:
                isInUse = true
                switch reply(to: payload, by: &card) {
                case .answer(let bytes): answer = bytes
                case .late(let bytes, let milliseconds):
                    usleep(useconds_t(clamping: milliseconds * 1_000))
                    answer = bytes
                case .gone: return
                }
            }
            let length = [UInt8(truncatingIfNeeded: answer.count >> 8), UInt8(truncatingIfNeeded: answer.count)]
            guard send(length + answer) else { return }
        }
    }

    /// GET DATA of the reader (`FF CA`) comes to the card here, because vpcd has no reader of its own.
    private func reply(to command: [UInt8], by card: inout any VirtualCard) -> VirtualCardReply {
        guard command.starts(with: [0xFF, 0xCA]), command.count == 5 else { return card.answer(command) }
        let data = command[2] == 0x00 ? card.activation.uid : []
        return .answer(data.isEmpty ? [0x6A, 0x81] : data + [0x90, 0x00])
    }

    /// The card's own, or one with the historical bytes of its ATS (PC/SC part 3 §3.1.3.2.3.1).
    private static func answerToReset(_ activation: CardActivation) -> [UInt8] {
        guard activation.atr.isEmpty else { return activation.atr }
        let format = activation.answerToSelect.first ?? 0
        let skipped = 1 + (format >> 4 & 0x07).nonzeroBitCount
        let history = activation.answerToSelect.dropFirst(skipped).prefix(15)
        let body = [0x80 | UInt8(history.count), 0x80, 0x01] + history
        return [0x3B] + body + [body.reduce(0, ^)]
    }

    // MARK: Socket

    private static func connect(_ endpoint: VPCDEndpoint) -> Int32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(endpoint.host, endpoint.port, &hints, &list) == 0 else { return nil }
        defer { unsafe freeaddrinfo(list) }
        var next = unsafe list
        while let entry = unsafe next {
            let address = unsafe entry.pointee
            let descriptor = unsafe socket(address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
            if descriptor >= 0 {
                if unsafe Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return descriptor }
                _ = close(descriptor)
            }
            unsafe next = address.ai_next
        }
        return nil
    }

    /// vpcd sends length and payload apart: without a quick ACK for the first, the second waits for 40 ms. The flag does
    /// not last, so it is set before every read.
    private func receive() -> [UInt8]? {
        guard let length = receive(2) else { return nil }
        return receive(Int(length[0]) << 8 | Int(length[1]))
    }

    private func receive(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var have = 0
        while have < count {
            set(TCP_QUICKACK)
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe recv(descriptor, buffer.baseAddress?.advanced(by: have), count - have, 0)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { return nil }
            have += got
        }
        return bytes
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL)
                )
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func set(_ option: Int32) {
        var isOn: Int32 = 1
        _ = unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), option, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }
}
