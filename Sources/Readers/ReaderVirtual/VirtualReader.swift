// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Linux
public import ReaderCore

/// A reader without hardware. It waits, answers, tears and vanishes as its `VirtualReaderControl` is told to; what runs
/// above it is what runs above a real one.
///
/// One is open on a control at a time. A reader that was detached works again once it is attached.
public final class VirtualReader: CardReader {
    public let identity: ReaderIdentity
    private let control: VirtualReaderControl
    private var isClosed = false

    /// Kept and shown, though nothing is sent: the phones in software give their passes without it.
    public var broadcast: [UInt8] {
        get { control.withField { $0.broadcast } }
        set { control.withField { $0.broadcast = newValue } }
    }

    public init(_ control: VirtualReaderControl) {
        self.control = control
        identity = ReaderIdentity(name: control.name, model: "nfc-tap virtual reader", driver: .virtual)
    }

    public func activate(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> CardPresence {
        try wait(until: deadline, cancellation: cancellation) { $0.activate() }
    }

    public func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        control.hold()
        try mustBeAttached()
        switch control.withField({ $0.react(to: command.bytes) }) {
        case .lost:
            throw .cardLost
        case .mute:
            try pause(until: deadline)
            throw .timedOut
        case .answer(let bytes, let milliseconds):
            let ready = monotonicNow().advanced(byMilliseconds: milliseconds)
            try pause(until: min(ready, deadline))
            guard ready <= deadline else { throw .timedOut }
            do { return try ResponseAPDU(bytes) } catch { throw .cardLost }
        }
    }

    public func release() { control.withField { $0.switchOff() } }

    public func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {
        try wait(until: deadline, cancellation: cancellation) { $0.awaitRemoval() }
    }

    public func check() throws(ReaderError) { try mustBeAttached() }

    public func show(_ feedback: ReaderFeedback) { control.withField { $0.feedback = feedback } }

    public func close() {
        isClosed = true
        release()
    }

    private func mustBeAttached() throws(ReaderError) {
        guard !isClosed, control.withField({ $0.isAttached }) else { throw .detached }
    }

    /// Asks `condition` now and after every change until it has a result.
    private func wait<Result: Sendable>(
        until deadline: TapInstant, cancellation: TapCancellation, _ condition: (inout VirtualField) -> Result?
    ) throws(ReaderError) -> Result {
        try cancellation.withWaker({ [control] in control.wake.signal() }) { () throws(ReaderError) -> Result in
            while true {
                control.hold()
                guard !cancellation.isCancelled else { throw .cancelled }
                try mustBeAttached()
                if let result = control.withField(condition) { return result }
                guard monotonicNow() < deadline else { throw .timedOut }
                _ = control.wake.wait(until: deadline)
            }
        }
    }

    /// Lets time pass while the card stays.
    private func pause(until instant: TapInstant) throws(ReaderError) {
        while true {
            try mustBeAttached()
            guard control.withField({ $0.isActive }) else { throw .cardLost }
            guard monotonicNow() < instant else { return }
            _ = control.wake.wait(until: instant)
        }
    }
}
