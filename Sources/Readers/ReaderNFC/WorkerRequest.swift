// SPDX-License-Identifier: Apache-2.0
/// What the worker is asked to do. Deadlines travel as milliseconds from the receipt of the frame.
package enum WorkerRequest: Equatable {
    /// Answered by `opened`.
    case open(connection: String)
    /// Raises the field and waits for a card of type A or B, sending `broadcast` (without CRC) in every loop where it
    /// is not empty. Answered by `card`, `collision`, `emptied` or `unreadable`.
    case poll(milliseconds: UInt32, broadcast: [UInt8])
    /// Answered by `response`.
    case transceive(command: [UInt8], milliseconds: UInt32)
    /// Asks whether the selected card still answers. Answered by `present`.
    case checkPresence
    /// Deselects the card and switches the field off. Answered by `done`.
    case release
    /// Waits until no card answers any more. Answered by `done`.
    case awaitRemoval(milliseconds: UInt32)
    /// Ends the `poll` or `awaitRemoval` under way, which then fails as cancelled. Has no answer of its own.
    case abort
    /// Gives the device back and ends the process. Answered by `done`.
    case close

    /// Largest C-APDU that a PN53x serial line carries; the worker refuses what is longer before libnfc sees it.
    package static let longestCommand = 262
    /// Longest frame to broadcast, without its CRC.
    static let longestBroadcast = 20
    /// Longest connection string: libnfc's buffer without the final zero.
    static let longestConnection = 1000

    func frame(id: UInt32) -> WorkerFrame {
        switch self {
        case .open(let connection): WorkerFrame(kind: 0x01, id: id, payload: Array(connection.utf8))
        case .poll(let milliseconds, let broadcast):
            WorkerFrame(kind: 0x02, id: id, payload: milliseconds.bigEndianBytes + broadcast)
        case .transceive(let command, let milliseconds):
            WorkerFrame(kind: 0x03, id: id, payload: milliseconds.bigEndianBytes + command)
        case .checkPresence: WorkerFrame(kind: 0x04, id: id, payload: [])
        case .release: WorkerFrame(kind: 0x05, id: id, payload: [])
        case .awaitRemoval(let milliseconds): WorkerFrame(kind: 0x06, id: id, payload: milliseconds.bigEndianBytes)
        case .abort: WorkerFrame(kind: 0x07, id: id, payload: [])
        case .close: WorkerFrame(kind: 0x08, id: id, payload: [])
        }
    }

    /// - Throws: `WorkerProtocolError` for an unknown kind or a payload of the wrong form.
    package init(_ frame: WorkerFrame) throws(WorkerProtocolError) {
        var fields = WorkerFields(frame.payload)
        switch frame.kind {
        case 0x01:
            let name = fields.rest()
            guard (1...WorkerRequest.longestConnection).contains(name.count) else { throw .badLength(name.count) }
            self = .open(connection: String(decoding: name, as: UTF8.self))
        case 0x02:
            let milliseconds = try fields.integer()
            let broadcast = fields.rest()
            guard broadcast.count <= WorkerRequest.longestBroadcast else { throw .badLength(broadcast.count) }
            self = .poll(milliseconds: milliseconds, broadcast: broadcast)
        case 0x03:
            let milliseconds = try fields.integer()
            self = .transceive(command: fields.rest(), milliseconds: milliseconds)
        case 0x04: self = .checkPresence
        case 0x05: self = .release
        case 0x06: self = .awaitRemoval(milliseconds: try fields.integer())
        case 0x07: self = .abort
        case 0x08: self = .close
        default: throw .unknownKind(frame.kind)
        }
        try fields.end()
    }
}
