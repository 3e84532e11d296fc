// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import CardSim
import Foundation
import Synchronization

/// A reader behind the unmodified pcscd whose hardware is played here: `ifd.c` is its driver.
///
/// Cards come and go within a millisecond. Each slot is a reader of its own for pcscd, with the same name and another number.
public final class IFDReader: Sendable {
    /// One call of pcscd's.
    public struct Call: Equatable, Sendable {
        public enum Kind: UInt8, Sendable {
            case powerUp = 0x75
            case powerDown = 0x64
            case reset = 0x72
            case presence = 0x70
            case transmit = 0x74
            case control = 0x63
        }

        public var slot: Int
        public var kind: Kind
        public var data: [UInt8]
    }

    private struct State {
        var slots: [IFDSlot]
        var calls: [Call] = []
        /// Those of `calls` that the reader has obeyed.
        var obeyed: [Call] = []
        var isPlugged = true
        /// pcscd has asked for a card's presence since it was plugged in.
        var isSeen = true
        var takesEscapes = false
        /// Of events, by slot.
        var listeners: [Int: Int32] = [:]
    }

    public let name: String
    /// Where the driver connects to: for `PrivatePCSCD.Stanza`.
    public let path: String
    private let listening: Int32
    private let state: Mutex<State>

    /// - Parameters:
    ///   - name: as the maker calls it; pcscd adds the numbers of reader and slot.
    ///   - slots: at most eight.
    public init(name: String, slots: Int = 1) throws(RigError) {
        self.name = name
        path = "/tmp/nfc-tap-ifd-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        state = Mutex(State(slots: Array(repeating: IFDSlot(), count: max(1, min(slots, 8)))))
        listening = try UnixStream.listen(at: path)
        Thread.detachNewThread { [weak self, listening] in
            while true {
                let descriptor = accept(listening, nil, nil)
                if descriptor < 0, errno == EINTR { continue }
                guard descriptor >= 0, let self else { break }
                self.greet(descriptor)
            }
            _ = close(listening)
        }
    }

    deinit {
        _ = shutdown(listening, Int32(SHUT_RDWR))
        _ = unsafe unlink(path)
    }

    public var stanza: PrivatePCSCD.Stanza { PrivatePCSCD.Stanza(name: name, socket: path) }

    /// Puts a card on a slot, in the place of one that lies there.
    public func insert(_ card: any VirtualCard, slot: Int = 0) { change(slot) { $0.insert(card) } }

    public func remove(slot: Int = 0) { change(slot) { $0.remove() } }

    /// What is wrong with the next calls of that kind; faults of one kind queue up.
    ///
    /// - Parameter times: `nil` without end.
    public func fault(_ action: IFDAction, at moment: IFDMoment, slot: Int = 0, times: Int? = 1) {
        state.withLock { if $0.slots.indices.contains(slot) { $0.slots[slot].add(action, at: moment, times: times) } }
    }

    public func forgetFaults() {
        state.withLock { state in for slot in state.slots.indices { state.slots[slot].forgetFaults() } }
    }

    public var faultsToCome: Int { state.withLock { $0.slots.map(\.faultsToCome).reduce(0, +) } }

    /// Whether SCardControl reaches the reader: Debian's libccid lets it only where it was told to.
    public func takesEscapes(_ whether: Bool) { state.withLock { $0.takesEscapes = whether } }

    /// From now on the driver knows of no such device; pcscd goes on to list it.
    public func unplug() { setPlugged(false) }

    /// Returns once pcscd has looked: until then a reader that is there again is still one that is gone to it.
    public func plug() {
        setPlugged(true)
        let end = rigNow().advanced(byMilliseconds: 5_000)
        while !state.withLock({ $0.isSeen || $0.listeners.isEmpty }), rigNow() < end { usleep(2_000) }
    }

    /// All calls so far, questions for a card's presence left out.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// Tones so far, by either of the commands that ACS's manuals print; those that the driver refused were not heard.
    public var tones: Int { state.withLock { $0.obeyed }.map { IFDIndicator.tones($0) }.reduce(0, +) }

    /// Bits of the lamps by the last command for them; `nil` where there was none.
    public var lamps: UInt8? { state.withLock { $0.obeyed }.compactMap { IFDIndicator.lamps($0) }.last }

    private func setPlugged(_ whether: Bool) {
        state.withLock { state in
            if whether, !state.isPlugged { state.isSeen = false }
            state.isPlugged = whether
            for slot in state.slots.indices { Self.tell(of: slot, state) }
        }
    }

    private func change(_ slot: Int, _ body: (inout IFDSlot) -> Void) {
        state.withLock { state in
            guard state.slots.indices.contains(slot) else { return }
            body(&state.slots[slot])
            Self.tell(of: slot, state)
        }
    }

    /// With the state locked: a descriptor whose pcscd has gone would else be another's by now.
    private static func tell(of slot: Int, _ state: borrowing State) {
        if let listener = state.listeners[slot] { _ = UnixStream.send([1], to: listener) }
    }

    private func greet(_ descriptor: Int32) {
        guard let hello = UnixStream.receive(2, from: descriptor) else {
            _ = close(descriptor)
            return
        }
        let slot = Int(hello[0])
        let isForEvents = hello[1] != 0
        // Answered and noted at once: pcscd then asks what lies there, and of what comes later nothing but an event tells it.
        let isGreeted = state.withLock { state in
            let count = state.slots.count
            guard slot < count, UnixStream.send([UInt8(count)], to: descriptor) else { return false }
            if isForEvents, let former = state.listeners.updateValue(descriptor, forKey: slot) { _ = close(former) }
            return true
        }
        guard isGreeted else {
            _ = close(descriptor)
            return
        }
        guard !isForEvents else { return }
        Thread.detachNewThread { [weak self] in
            while let length = UnixStream.receive(2, from: descriptor),
                let frame = UnixStream.receive(Int(length[0]) << 8 | Int(length[1]), from: descriptor),
                let kind = frame.first.flatMap(Call.Kind.init),
                let answer = self?.answer(Call(slot: slot, kind: kind, data: Array(frame.dropFirst())))
            {
                let code = answer.code.rawValue
                let bytes = [UInt8(code >> 8), UInt8(code & 0xFF)] + answer.bytes
                let size = [UInt8(truncatingIfNeeded: bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count)]
                guard UnixStream.send(size + bytes, to: descriptor) else { break }
            }
            _ = close(descriptor)
        }
    }

    private func answer(_ call: Call) -> IFDSlot.Answer {
        let (answer, changes) = state.withLock { state in
            let before = state.slots[call.slot].changes
            let answer = Self.answer(call, &state)
            // A card that leaves by itself is noticed like any other.
            if state.slots[call.slot].changes != before { Self.tell(of: call.slot, state) }
            if answer.code == .success, IFDIndicator.tones(call) > 0 || IFDIndicator.lamps(call) != nil {
                state.obeyed.append(call)
            }
            return (answer, state.slots[call.slot].changes)
        }
        if answer.isSilence {
            while state.withLock({ $0.slots[call.slot].changes == changes && $0.isPlugged }) { usleep(2_000) }
        } else if answer.milliseconds > 0 {
            let end = rigNow().advanced(byMilliseconds: answer.milliseconds)
            // A card that leaves meanwhile has not answered.
            while rigNow() < end, state.withLock({ $0.slots[call.slot].changes == changes }) { usleep(1_000) }
            if state.withLock({ $0.slots[call.slot].changes != changes }) {
                return IFDSlot.Answer(code: .iccNotPresent)
            }
        }
        return answer
    }

    private static func answer(_ call: Call, _ state: inout State) -> IFDSlot.Answer {
        if call.kind != .presence { state.calls.append(call) }
        guard state.isPlugged else { return IFDSlot.Answer(code: .noSuchDevice) }
        switch call.kind {
        case .presence:
            state.isSeen = true
            return IFDSlot.Answer(code: state.slots[call.slot].hasCard ? .iccPresent : .iccNotPresent)
        case .powerUp, .reset: return state.slots[call.slot].powerUp()
        case .powerDown: return IFDSlot.Answer(code: .success)
        case .transmit: return state.slots[call.slot].transmit(call.data)
        case .control: return state.slots[call.slot].escape(takesEscapes: state.takesEscapes)
        }
    }
}
