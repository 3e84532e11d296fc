// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The first place where a replay asked for something that its transcript does not have.
public struct ReplayMismatch: Error, Equatable, Sendable {
    public enum Call: Equatable, Sendable {
        case activate
        case transmit(CommandAPDU)
    }

    /// Index into `Transcript.steps`, from 0; the number of steps where the transcript was over.
    public var step: Int
    /// What the transcript has there; `nil` at its end.
    public var expected: Transcript.Step?
    public var actual: Call

    public init(step: Int, expected: Transcript.Step?, actual: Call) {
        self.step = step
        self.expected = expected
        self.actual = actual
    }
}

extension ReplayMismatch: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Commands by their header and length, never by their data.
    public var description: String { "step \(step): expected \(phrase(expected)), got \(phrase(actual))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }

    private func phrase(_ call: Call) -> String {
        switch call {
        case .activate: "an activation"
        case .transmit(let command): phrase(command)
        }
    }

    private func phrase(_ step: Transcript.Step?) -> String {
        switch step {
        case .activated, .collided, .emptied: "an activation"
        case .exchanged(let command, _): phrase(command)
        case .released: "a release"
        case nil: "the end"
        }
    }

    private func phrase(_ command: CommandAPDU) -> String {
        let header = Hex.string([command.cla, command.ins, command.p1, command.p2])
        return "command \(header) with \(command.data.count) data bytes"
    }
}
