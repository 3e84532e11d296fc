// SPDX-License-Identifier: Apache-2.0
public import ReaderCore

/// LED and buzzer of a reader: which command shows what. Commands as the makers' reference manuals print them.
public enum ReaderIndicator: Equatable, Sendable {
    /// Nothing that a host can switch, or nothing known.
    case none
    /// ACR122U: one command for both, answered by the reader, passed to it like an APDU while a card is connected.
    case pseudoAPDU
    /// Later ACS readers: an escape command each for LED and buzzer. The LED bits differ from model to model.
    case escape(green: UInt8, red: UInt8)

    /// How a command goes to the reader.
    public enum Channel: Equatable, Sendable {
        /// SCardTransmit, while a card is connected. No card sees it.
        case transmit
        /// SCardControl with the CCID escape code. Debian's libccid refuses it unless `ifdDriverOptions` has bit 0.
        case escape
    }

    public struct Command: Equatable, Sendable {
        public let channel: Channel
        public let bytes: [UInt8]

        public init(channel: Channel, bytes: [UInt8]) {
            self.channel = channel
            self.bytes = bytes
        }
    }

    /// What to send for `feedback`, in this order; nothing where the reader cannot show it.
    ///
    /// - Parameter shown: what it was told last. What sounds the same is not sounded again: "read" and then "approved" are
    ///   one tone.
    public func commands(
        for feedback: ReaderFeedback, after shown: ReaderFeedback? = nil, level: FeedbackLevel = .lightsAndSound
    ) -> [Command] {
        var signal = Signal(feedback)
        if let shown, Signal(shown) == signal { signal.beeps = 0 }
        switch level {
        case .lightsAndSound: break
        case .lights: signal.beeps = 0
        case .off: return []
        }
        switch self {
        case .none: return []
        case .pseudoAPDU: return [Command(channel: .transmit, bytes: Self.pseudoAPDU(signal))]
        case .escape(let green, let red):
            let lights = (signal.green ? green : 0) | (signal.red ? red : 0)
            // LED control, then buzzer control, in units of 10 ms.
            let light = Command(channel: .escape, bytes: [0xE0, 0, 0, 0x29, 1, lights])
            guard signal.beeps > 0 else { return [light] }
            // It has no repetition, so a bad answer is a longer tone.
            let length: UInt8 = 10 << (signal.beeps - 1)
            return [light, Command(channel: .escape, bytes: [0xE0, 0, 0, 0x28, 1, length])]
        }
    }

    /// `FF 00 40 P2 04 T1 T2 N link`: P2 carries final states (bits 0 red, 1 green), their masks (2, 3), initial blinking
    /// states (4, 5) and blinking masks (6, 7); T1 and T2 are in units of 100 ms; link 01 sounds the buzzer during T1.
    private static func pseudoAPDU(_ signal: Signal) -> [UInt8] {
        var control: UInt8 = 0x0C
        if signal.red { control |= 0x01 }
        if signal.green { control |= 0x02 }
        let beeps = signal.beeps
        return [0xFF, 0x00, 0x40, control, 0x04, beeps > 0 ? 1 : 0, beeps > 0 ? 1 : 0, beeps, beeps > 0 ? 1 : 0]
    }

    /// The same for every reader, so that a cashier who changes tills need not learn anew.
    private struct Signal: Equatable {
        var green = false
        var red = false
        /// Short ones: one for good, three for bad.
        var beeps: UInt8 = 0

        init(_ feedback: ReaderFeedback) {
            switch feedback {
            case .idle: break
            case .ready: green = true
            case .processing: (green, red) = (true, true)
            case .read: (green, beeps) = (true, 1)
            case .approved: (green, beeps) = (true, 1)
            case .declined: (red, beeps) = (true, 3)
            case .tryAgain: (red, beeps) = (true, 2)
            case .error: (red, beeps) = (true, 3)
            }
        }
    }
}
