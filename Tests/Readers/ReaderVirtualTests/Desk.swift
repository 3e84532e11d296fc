// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import ReaderCore
import ReaderVirtual

/// A virtual reader, and the hand that plays with it.
struct Desk {
    let control: VirtualReaderControl
    let reader: VirtualReader

    init(_ commands: String...) throws {
        control = try VirtualReaderControl(cardNames: ["one", "two"], card: CountingCard.named)
        reader = VirtualReader(control)
        for command in commands { try control.obey(command) }
    }

    /// A deadline that no passing test reaches.
    static func soon(_ milliseconds: UInt64 = 60_000) -> TapInstant {
        monotonicNow().advanced(byMilliseconds: milliseconds)
    }

    @discardableResult
    func activate(within milliseconds: UInt64 = 60_000) throws(ReaderError) -> CardPresence {
        try reader.activate(until: Desk.soon(milliseconds), cancellation: TapCancellation())
    }

    /// Name of the card and number of the command, as the card answers.
    func ask(p1: UInt8 = 0, p2: UInt8 = 0, within milliseconds: UInt64 = 60_000) throws -> [UInt8] {
        let command = try CommandAPDU(cla: 0x00, ins: 0x01, p1: p1, p2: p2)
        return try reader.transmit(command, until: Desk.soon(milliseconds)).data
    }

    /// Runs `body` on another thread as soon as the field is on: when a wait for a card has begun.
    func onceWaiting(_ body: @escaping @Sendable () -> Void) {
        let control = control
        Thread.detachNewThread {
            while !control.answer(to: "state").contains("field=on") { sched_yield() }
            body()
        }
    }
}
