// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import Linux
import Logging
import Synchronization

/// The keys of a switch, each of whose faults is counted and told: whoever asks them decides what becomes of the payment, and nothing else.
struct WatchedKeys: EnvelopeOpener {
    private let keys: any EnvelopeOpener
    private let measures: SwitchMeasures
    private let logger: Logger
    private let pace = LogPace()

    init(_ keys: any EnvelopeOpener, _ measures: SwitchMeasures, _ logger: Logger) {
        (self.keys, self.measures, self.logger) = (keys, measures, logger)
    }

    func recipients() async throws(OpeningRefusal) -> RecipientKeySet {
        try await watched { () async throws(OpeningRefusal) in try await keys.recipients() }
    }

    func open(_ envelope: String) async throws(OpeningRefusal) -> SecretBytes {
        try await watched { () async throws(OpeningRefusal) in try await keys.open(envelope) }
    }

    func open(
        _ envelope: String, merchant: String, number: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(OpeningRefusal) -> (record: SecretBytes, token: String?) {
        try await watched { () async throws(OpeningRefusal) in
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
        _ call: () async throws(OpeningRefusal) -> Answer
    ) async throws(OpeningRefusal) -> Answer {
        do throws(OpeningRefusal) { return try await call() } catch {
            switch error {
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
