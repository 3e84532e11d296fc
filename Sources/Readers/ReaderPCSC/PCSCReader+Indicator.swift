// SPDX-License-Identifier: Apache-2.0
public import ReaderCore
import ReaderModels

extension PCSCReader {
    /// LED and buzzer of a model that is known to have them. What fails here fails nobody's tap.
    public func show(_ feedback: ReaderFeedback) {
        // Between the commands of a card that is being read nothing else goes to the reader.
        guard !isClosed, transaction == nil || feedback.isEnd else { return }
        let commands = indicator.commands(for: feedback, after: shown, level: feedbackLevel)
        shown = nil
        for command in commands {
            guard let link = talking?.link, command.channel == .transmit && transaction != nil || !refusesEscape
            else { return }
            do throws(PCSCFailure) {
                try callGuard.run(within: .indicator, severing: link) { () throws(PCSCFailure) in
                    try send(command)
                }
            } catch {
                return noteRefusal(error)
            }
        }
        shown = feedback
    }

    private func send(_ command: ReaderIndicator.Command) throws(PCSCFailure) {
        if transaction == nil {
            try talking?.connectDirectly(to: identity.name).escape(command.bytes)
        } else if command.channel == .transmit {
            _ = try transaction?.transmit(command.bytes)
        } else {
            try transaction?.escape(command.bytes)
        }
    }

    private func noteRefusal(_ failure: PCSCFailure) {
        switch failure.meaning {
        // Another program has the reader, or it went: that is about now, not about the reader.
        case .inUse, .readerGone, .readerUnavailable: return
        case .connectionLost, .notRunning, .otherVersion, .stuck: _ = fail(failure)
        case .cardLost, .mute, .otherProtocol, .accessDenied, .cancelled, .timedOut, .other: break
        }
        if failure.call == .control || failure.meaning == .stuck { refusesEscape = true }
    }
}

extension ReaderFeedback {
    /// Whether the card has been read, or will not be.
    fileprivate var isEnd: Bool {
        switch self {
        case .idle, .ready, .processing: false
        case .read, .approved, .declined, .tryAgain, .error: true
        }
    }
}
