// SPDX-License-Identifier: Apache-2.0
import Logging
import POSAPI
import PaymentValues
import TapClient

/// Reads passes on one lane, again and again, and hands on what may leave.
struct LaneWatch: Sendable {
    let lane: String
    private let ports: [OutputPort]
    private let client: TapClient
    private let logger: Logger

    /// Seconds for which one request waits.
    private static let deadline = 600
    /// Seconds from the word that something was read to its end.
    private static let resultTime = 5
    private static let shortPause = Duration.seconds(1)
    private static let longPause = Duration.seconds(5)

    init(_ lane: String, _ ports: [OutputPort], _ client: TapClient, _ logger: Logger) {
        (self.lane, self.ports, self.client) = (lane, ports, client)
        var logger = logger
        logger[metadataKey: "lane"] = "\(lane)"
        self.logger = logger
    }

    /// - Returns: why an outbox could not be written.
    func run() async -> Hub.Failure? {
        var problem: TapClientError.Code?
        // Of the last tap that the daemon has told of; what it keeps from before is taken, too.
        var told: UInt64 = 0
        if let former = await former(), let failure = await take(former) { return failure }
        while !Task.isCancelled {
            do throws(TapClientError) {
                if try await standsAlone() {
                    if problem != nil { logger.notice("reads passes again") }
                    problem = nil
                    if let failure = try await follow(&told) { return failure }
                    continue
                }
                let began = ContinuousClock.now
                let tap = try await client.start(request, idempotencyKey: TransactionID().text)
                if problem != nil { logger.notice("reads passes again") }
                problem = nil
                let transaction = try await tap.settled()
                if let failure = await take(transaction) { return failure }
                let isShort = ContinuousClock.now - began < Self.shortPause
                if isShort, transaction.state != .completed { try? await Task.sleep(for: Self.shortPause) }
            } catch {
                // Said once: it lasts, or is over soon.
                if error.code != problem, error.code != .cancelled {
                    logger.warning("no passes are read", metadata: ["error": "\(error)"])
                }
                problem = error.code
                let isBusy = error.code == .init(.readerBusy)
                try? await Task.sleep(for: isBusy ? Self.shortPause : Self.longPause)
            }
        }
        return nil
    }

    /// Whether the daemon itself reads each tap there, and is asked for nothing.
    private func standsAlone() async throws(TapClientError) -> Bool {
        do throws(TapClientError) { return try await client.standing(lane).mode == .read } catch {
            guard error.code == .init(.standingNotConfigured) else { throw error }
            return false
        }
    }

    /// Takes each tap that the daemon tells of, until it cannot be heard.
    ///
    /// - Parameter told: the last one that was taken.
    /// - Returns: why an outbox could not be written.
    private func follow(_ told: inout UInt64) async throws(TapClientError) -> Hub.Failure? {
        for try await event in client.events(after: told) {
            if event.name == .loyaltyResult, event.lane == lane, event.tap != nil, let id = event.transaction,
                let transaction = try await transaction(id), let failure = await take(transaction)
            {
                return failure
            }
            told = event.id
        }
        return nil
    }

    /// - Returns: `nil` for one that nobody can give any more: the taps after it must not wait for it.
    private func transaction(_ id: TransactionID) async throws(TapClientError) -> Transaction? {
        do throws(TapClientError) { return try await client.transaction(id, wait: Self.resultTime) } catch {
            guard !error.isRetryable, error.code != .cancelled else { throw error }
            logger.warning("tap not looked at", metadata: ["transaction": "\(id)", "error": "\(error)"])
            return nil
        }
    }

    /// What was read when the last run ended: the daemon keeps its passes for a minute. No list has them, so that it is asked for by its id.
    private func former() async -> Transaction? {
        while !Task.isCancelled {
            do throws(TapClientError) {
                let last = try await client.last(of: lane, type: .loyalty)
                return try await client.transaction(last.id, wait: 5)
            } catch {
                guard error.isRetryable else { return nil }
                try? await Task.sleep(for: Self.shortPause)
            }
        }
        return nil
    }

    private var request: TransactionRequest {
        var request = TransactionRequest(type: .loyalty, amount: .none)
        request.lane = lane
        request.deadline = Self.deadline
        let rules = ports.map(\.output.rule)
        // Each programme that some output wants; one without a list wants all.
        if rules.allSatisfy({ !$0.programmes.isEmpty }) {
            let wanted = rules.reduce(into: Set<String>()) { $0.formUnion($1.programmes) }
            request.loyalty = LoyaltyOptions(programmes: wanted.sorted())
        }
        return request
    }

    private func take(_ transaction: Transaction) async -> Hub.Failure? {
        for entry in transaction.loyalty?.programmes ?? [] where entry.pass != nil || entry.status == .repeated {
            for port in ports {
                let verdict = port.output.rule.judge(
                    entry, id: "\(transaction.id)", lane: lane, time: transaction.updatedAt)
                switch verdict {
                case .leaves(let tap):
                    do throws(OutboxFile.Failure) { try await port.add(tap) } catch {
                        return Hub.Failure(error, port.output.name)
                    }
                case .stays(.notWanted): break
                case .stays(let refusal):
                    // The word alone: what it is about stays here.
                    logger.notice(
                        "pass not handed on",
                        metadata: ["output": "\(port.output.name)", "why": "\(refusal.rawValue)"])
                }
            }
        }
        return nil
    }
}
