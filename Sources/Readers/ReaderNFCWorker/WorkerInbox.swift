// SPDX-License-Identifier: Apache-2.0
import Glibc
import ReaderNFC

/// The worker's end of the socket.
final class WorkerInbox {
    private let socket: Int32
    private var received: [UInt8] = []
    private var hasEnded = false

    init(socket: Int32) { self.socket = socket }

    /// The next frame; blocks for it.
    ///
    /// - Returns: `nil` once the other side has closed.
    /// - Throws: `.badLength` where the stream makes no sense.
    func next() throws(WorkerProtocolError) -> WorkerFrame? {
        while true {
            if let frame = try WorkerFrame.take(from: &received) { return frame }
            guard !hasEnded else { return nil }
            receive(within: -1)
        }
    }

    /// Whether something arrives within the time that the request under way should end for: an abort, any other frame,
    /// or the end of the stream.
    func wantsAttention(within milliseconds: Int32) -> Bool {
        if received.isEmpty, !hasEnded { receive(within: milliseconds) }
        guard !received.isEmpty || hasEnded else { return false }
        return true
    }

    /// - Returns: `false` where the other side is gone.
    func send(_ frame: WorkerFrame) -> Bool {
        guard let bytes = frame.bytes else { return false }
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = unsafe Glibc.send(socket, rest, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func receive(within milliseconds: Int32) {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&watched, 1, milliseconds) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: WorkerFrame.longest)
        let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count <= 0 { hasEnded = true } else { received += bytes.prefix(count) }
    }
}
