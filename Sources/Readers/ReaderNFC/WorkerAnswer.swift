// SPDX-License-Identifier: Apache-2.0
package import CardBytes

/// What the worker says to a request.
package enum WorkerAnswer: Equatable {
    /// The device is open; the chip as libnfc names it: `PN532 v1.6`.
    case opened(chip: String)
    case card(CardActivation)
    case collision
    /// The field is empty after a collision.
    case emptied
    /// What answers the search can be selected by nobody, and has lain there for a second.
    case unreadable
    /// An R-APDU as it came, of any length.
    case response([UInt8])
    case present(Bool)
    case done
    /// `code` is libnfc's error number, or errno, or 0.
    case failed(WorkerFailure, code: Int32)

    /// Largest UID of type A (ISO/IEC 14443-3 §6.5.4, triple size).
    static let longestUID = 10
    /// Largest ATS without its length byte (libnfc's buffer).
    static let longestATS = 254

    package func frame(id: UInt32) -> WorkerFrame {
        switch self {
        case .opened(let chip): WorkerFrame(kind: 0x81, id: id, payload: Array(chip.utf8.prefix(200)))
        case .card(let card): WorkerFrame(kind: 0x82, id: id, payload: WorkerAnswer.fields(of: card))
        case .collision: WorkerFrame(kind: 0x83, id: id, payload: [])
        case .response(let bytes): WorkerFrame(kind: 0x84, id: id, payload: bytes)
        case .present(let isPresent): WorkerFrame(kind: 0x85, id: id, payload: [isPresent ? 1 : 0])
        case .done: WorkerFrame(kind: 0x86, id: id, payload: [])
        case .failed(let failure, let code):
            WorkerFrame(kind: 0x87, id: id, payload: [failure.rawValue] + code.bigEndianBytes)
        case .emptied: WorkerFrame(kind: 0x88, id: id, payload: [])
        case .unreadable: WorkerFrame(kind: 0x89, id: id, payload: [])
        }
    }

    /// - Throws: `WorkerProtocolError` for an unknown kind or a payload of the wrong form.
    init(_ frame: WorkerFrame) throws(WorkerProtocolError) {
        var fields = WorkerFields(frame.payload)
        switch frame.kind {
        case 0x81: self = .opened(chip: String(decoding: fields.rest(), as: UTF8.self))
        case 0x82: self = .card(try WorkerAnswer.card(from: &fields))
        case 0x83: self = .collision
        case 0x84: self = .response(fields.rest())
        case 0x85:
            let value = try fields.byte()
            guard value <= 1 else { throw .unknownValue(value) }
            self = .present(value == 1)
        case 0x86: self = .done
        case 0x87:
            let value = try fields.byte()
            guard let failure = WorkerFailure(rawValue: value) else { throw .unknownValue(value) }
            self = .failed(failure, code: Int32(bitPattern: try fields.integer()))
        case 0x88: self = .emptied
        case 0x89: self = .unreadable
        default: throw .unknownKind(frame.kind)
        }
        try fields.end()
    }

    // technology (0 A, 1 B) ‖ has SAK ‖ SAK ‖ UID with length ‖ ATS or protocol info with length
    private static func fields(of card: CardActivation) -> [UInt8] {
        let uid = card.uid.prefix(longestUID)
        let ats = card.answerToSelect.prefix(longestATS)
        return [card.technology == .typeB ? 1 : 0, card.sak == nil ? 0 : 1, card.sak ?? 0]
            + [UInt8(truncatingIfNeeded: uid.count)] + uid + [UInt8(truncatingIfNeeded: ats.count)] + ats
    }

    private static func card(from fields: inout WorkerFields) throws(WorkerProtocolError) -> CardActivation {
        let technology = try fields.byte()
        guard technology <= 1 else { throw .unknownValue(technology) }
        let hasSAK = try fields.byte()
        guard hasSAK <= 1 else { throw .unknownValue(hasSAK) }
        let sak = try fields.byte()
        return CardActivation(
            technology: technology == 1 ? .typeB : .typeA, uid: try fields.counted(most: longestUID),
            answerToSelect: try fields.counted(most: longestATS), sak: hasSAK == 1 ? sak : nil)
    }
}

/// Why the worker could not do it, by what the other side can do about it.
package enum WorkerFailure: UInt8, Error {
    case cardLost = 1
    case timedOut = 2
    case cancelled = 3
    case detached = 4
    case inUse = 5
    case accessDenied = 6
    case faulty = 7
}
