// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Linux
import Logging
import Synchronization

/// The keys of a switch, each of whose faults is counted and told: whoever asks them decides what becomes of the payment, and nothing else.
final class WatchedKeys: EnvelopeOpener {
    private let keys: any EnvelopeOpener
    private let measures: SwitchMeasures
    private let logger: Logger
    private let pace = LogPace()
    /// When an envelope was opened last, or the keys for it were seen, in nanoseconds of `MachineClock.awake`.
    private let proved = Mutex<UInt64?>(nil)

    init(_ keys: any EnvelopeOpener, _ measures: SwitchMeasures, _ logger: Logger) {
        (self.keys, self.measures, self.logger) = (keys, measures, logger)
    }

    func recipients() async throws(OpeningRefusal) -> RecipientKeySet {
        try await watched(proves: true) { () async throws(OpeningRefusal) in try await keys.recipients() }
    }

    /// Whether envelopes can be opened: one was a moment ago, or the keys are there. A token that is slow is at work, and is not asked besides.
    func canOpen() async -> Bool {
        if let at = proved.withLock({ $0 }), MachineClock.awake &- at < 5_000_000_000 { return true }
        // Why not is counted and told.
        return (try? await recipients()) != nil
    }

    func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes {
        try await watched(proves: true) { () async throws(OpeningRefusal) in try await keys.open(envelope) }
    }

    func open(
        _ envelope: String, merchant: String, number: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(OpeningRefusal) -> (record: SecretBytes, token: String?) {
        try await watched(proves: true) { () async throws(OpeningRefusal) in
            try await keys.open(envelope, merchant: merchant, number: number)
        }
    }

    func cardToken(merchant: String, number: SecretBytes) async throws(OpeningRefusal) -> String {
        try await watched { () async throws(OpeningRefusal) in
            try await keys.cardToken(merchant: merchant, number: number)
        }
    }

    func seal(_ content: SecretBytes, for name: String) async throws(OpeningRefusal) -> [UInt8] {
        try await watched { () async throws(OpeningRefusal) in try await keys.seal(content, for: name) }
    }

    func unseal(_ sealed: [UInt8], for name: String) async throws(OpeningRefusal) -> SecretBytes {
        try await watched { () async throws(OpeningRefusal) in try await keys.unseal(sealed, for: name) }
    }

    private func watched<Answer>(
        proves: Bool = false, _ call: () async throws(OpeningRefusal) -> Answer
    ) async throws(OpeningRefusal) -> Answer {
        do throws(OpeningRefusal) {
            let answer = try await call()
            if proves { proved.withLock { $0 = MachineClock.awake } }
            return answer
        } catch {
            switch error {
            case .busy:
                measures.count(.keysBusy)
                pace.log(logger, .error, "more waits for the keys than they do in time: see --sessions")
            case .unavailable:
                measures.count(.keysUnavailable)
                pace.log(logger, .error, "the keys cannot be used now: look at the token")
            // Of an envelope or a row: whoever asked names it.
            case .unreadable, .unknownKey: break
            }
            throw error
        }
    }
}
