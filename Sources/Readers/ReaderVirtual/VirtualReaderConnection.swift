// SPDX-License-Identifier: Apache-2.0
/// One client of a `VirtualReaderSocket`, and what it has sent of its next line.
final class VirtualReaderConnection {
    private let socket: UnixSocket
    private var pending: [UInt8] = []

    init(_ accepted: Int32) { socket = UnixSocket(accepted: accepted) }

    var descriptor: Int32 { socket.descriptor }

    /// Answers every line that is complete.
    ///
    /// - Returns: `false` when the connection is over: closed, deaf, or with a line longer than any command.
    func serve(_ answer: (String) -> String) -> Bool {
        guard let received = socket.receive() else { return true }
        guard !received.isEmpty else { return false }
        pending += received
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: pending[..<end], as: UTF8.self)
            pending.removeSubrange(...end)
            guard socket.send(answer(line) + "\n") else { return false }
        }
        guard pending.count <= VirtualCommand.longestLine else {
            _ = socket.send("error \(VirtualCommandError.tooLong)\n")
            return false
        }
        return true
    }
}
