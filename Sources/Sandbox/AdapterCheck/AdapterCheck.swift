// SPDX-License-Identifier: Apache-2.0
public import Envelope
import LocalHTTP
import PSPAPI
public import PaymentValues

/// Holds an adapter against its contract, from outside and with test cards only: what a daemon would find out in a bad hour, its
/// author finds out at once.
public struct AdapterCheck: Sendable {
    /// One for each replica; the first one is asked where only one is needed.
    public var sockets: [String]
    /// Of a sale that the adapter approves; operations use up to ten times of it.
    public var amount: Money
    /// Stops the adapter hard and starts it again; whether it did so. `nil` where nobody can.
    public var restart: (@Sendable () async -> Bool)?
    /// For an answer: as long as a daemon waits.
    public var answerTime = Duration.seconds(30)
    /// What is sealed to where the adapter offers no keys.
    public var recipient: RecipientKey

    public init(
        sockets: [String], amount: Money, recipient: RecipientKey, restart: (@Sendable () async -> Bool)? = nil
    ) {
        self.sockets = sockets
        self.amount = amount
        self.recipient = recipient
        self.restart = restart
    }

    /// Tries every rule, one after the other.
    ///
    /// - Parameter report: told of each finding as soon as it is made.
    /// - Returns: all findings, in the order of `CheckRule`.
    public func run(report: (CheckFinding) -> Void) async -> [CheckFinding] {
        var findings: [CheckFinding] = []
        var passed: Set<CheckRule> = []
        var features: Set<AdapterFeature> = []
        var bench = CheckBench(
            clients: sockets.map { HTTPClient(path: $0) }, amount: amount, recipient: recipient, time: answerTime)
        for rule in CheckRule.allCases {
            var finding = CheckFinding(rule, .pass)
            if let missing = missing(rule, features), passed.contains(.health) {
                finding = CheckFinding(rule, .notSupported, missing)
            } else if let wanted = wanted(rule), passed.contains(.health) {
                finding = CheckFinding(rule, .notTried, wanted)
            } else if let need = rule.needs.first(where: { !passed.contains($0) }) {
                finding = CheckFinding(rule, .notTried, "it builds on \(need.rawValue)")
            } else {
                do throws(Complaint) {
                    if rule == .health {
                        features = try await health(bench)
                        bench = CheckBench(
                            clients: bench.clients, amount: amount, recipient: await offered(bench) ?? recipient,
                            time: answerTime)
                    } else {
                        try await hold(rule, bench, features)
                    }
                } catch {
                    finding = CheckFinding(rule, .fail, error.text)
                }
            }
            if finding.verdict == .pass { passed.insert(rule) }
            findings.append(finding)
            report(finding)
        }
        return findings
    }

    /// Why a rule does not apply; `nil` where it does.
    private func missing(_ rule: CheckRule, _ features: Set<AdapterFeature>) -> String? {
        let words: [AdapterFeature] =
            switch rule {
            case .health, .keys: []
            case .saleApproved, .saleAmount, .unknownMembers, .keyRepeat, .keyOtherBody, .keyRace, .query,
                .queryUnknown,
                .idleConnections, .reversal, .reversalRepeat, .reversalBefore:
                [.sale]
            case .replicas, .replicaRace:
                []
            case .restart: []
            case .operationUnknown:
                features.isDisjoint(with: Self.operations) ? [.capture] : []
            case .capture, .operationID, .operationAmount, .operationRepeat, .operationOtherBody, .operationQuery,
                .captureBounded, .captureOnce:
                [.preauth, .capture]
            case .captureSeveral: [.preauth, .capture, .multicapture]
            case .adjust: [.preauth, .capture, .adjust]
            case .release: [.preauth, .capture, .release]
            case .refund, .refundBounded, .refundOtherCard: [.refundLinked]
            case .refundReversal: [.refundLinked, .refundReversal]
            case .figures, .figuresRepeat, .figuresQuery, .figuresItems: [.sale, .reconcile]
            case .charge, .chargeRepeat, .chargeOtherBody, .unknownToken: [.verify, .charge]
            case .deletion, .deletionRepeat, .deletionEnds: [.verify, .charge, .tokenDeletion]
            case .pinVerified: [.sale, .pin]
            case .pinContinuation: [.sale, .singleTap]
            case .link, .linkRepeat, .linkOtherBody, .linkClosed, .linkNeverOpened: [.link]
            case .handover, .handoverClosed, .handoverNeverOpened, .handoverTerminal: [.handover]
            case .receipt, .receiptRepeat, .receiptOtherTransaction, .receiptEnvelope: [.sale, .receipt]
            }
        if let word = words.first(where: { !features.contains($0) }) {
            return "supports does not name \(word.rawValue)"
        }
        return nil
    }

    /// What the caller would have to give to have a rule tried; `nil` where nothing is missing.
    private func wanted(_ rule: CheckRule) -> String? {
        if rule == .restart { return restart == nil ? "give --restart to try it" : nil }
        guard [.replicas, .replicaRace].contains(rule), sockets.count < 2 else { return nil }
        return "give --socket twice to try it"
    }

    private static let operations: Set<AdapterFeature> = [.capture, .adjust, .extend, .release, .refundLinked]

    private func health(_ bench: CheckBench) async throws(Complaint) -> Set<AdapterFeature> {
        var common: Set<AdapterFeature>?
        for replica in sockets.indices {
            let reply = try await bench.get("/v1/health", at: replica, as: AdapterHealth.self)
            guard reply.status == 200, let health = reply.message else {
                throw Complaint("GET /v1/health was answered with \(reply.status)\(CheckBench.unread(reply))")
            }
            guard health.status != .down else { throw Complaint("the adapter says that it is down") }
            guard health.protocolVersions.contains("v1") else { throw Complaint("protocolVersions does not name v1") }
            let words = Set(health.supports.compactMap(AdapterFeature.init))
            if let common, common != words { throw Complaint("replicas do not support the same") }
            common = words
        }
        return common ?? []
    }

    /// The key that the adapter wants card data to be sealed to.
    private func offered(_ bench: CheckBench) async -> RecipientKey? {
        do {
            let answer = try await bench.clients[0].send(
                HTTPClientRequest(.get, "/v1/keys"), answerWithin: bench.time)
            guard answer.status == 200 else { return nil }
            let now = UInt64(max(0, Timestamp.now.milliseconds / 1_000))
            return try RecipientKeySet(json: answer.body).key(at: now)
        } catch {
            return nil
        }
    }

    /// - Throws: names each key that a till would not seal to; one with its private half is no key any more.
    private func checkKeys(_ bench: CheckBench) async throws(Complaint) {
        for (replica, client) in bench.clients.enumerated() {
            guard
                let answer = try? await client.send(HTTPClientRequest(.get, "/v1/keys"), answerWithin: bench.time)
            else { throw Complaint("GET /v1/keys was not answered by replica \(replica)") }
            guard answer.status != 404 else { continue }
            guard answer.status == 200 else { throw Complaint("GET /v1/keys was answered with \(answer.status)") }
            let refusals: [RecipientKeySet.Refusal]
            do throws(RecipientKeyError) { refusals = try RecipientKeySet(json: answer.body).refusals } catch {
                throw Complaint("\(error)")
            }
            guard refusals.isEmpty else { throw Complaint(refusals.map(\.description).joined(separator: "; ")) }
        }
    }

    private func hold(
        _ rule: CheckRule, _ bench: CheckBench, _ features: Set<AdapterFeature>
    ) async throws(Complaint) {
        switch rule {
        case .health: break
        case .keys: try await checkKeys(bench)
        case .saleApproved: _ = try await bench.approved()
        case .saleAmount: try await bench.checkAmount()
        case .unknownMembers: try await bench.checkUnknownMembers()
        case .keyRepeat: try await bench.checkRepeat()
        case .keyOtherBody: try await bench.checkOtherBody()
        case .keyRace: try await bench.checkRace(between: [0, 0])
        case .query: try await bench.checkQuery()
        case .queryUnknown: try await bench.checkUnknown()
        case .idleConnections: try await bench.checkIdleConnections()
        case .reversal: try await bench.checkReversal()
        case .reversalRepeat: try await bench.checkReversalRepeat()
        case .reversalBefore: try await bench.checkReversalBefore()
        case .replicas: try await bench.checkReplicas()
        case .replicaRace: try await bench.checkRace(between: Array(sockets.indices))
        case .restart: try await checkRestart(bench)
        case .operationUnknown: try await bench.checkUnknownOperation()
        case .capture: try await bench.checkCapture()
        case .operationID, .operationAmount: try await bench.checkOperationAnswer(rule)
        case .operationRepeat: try await bench.checkOperationRepeat()
        case .operationOtherBody: try await bench.checkOperationOtherBody()
        case .operationQuery: try await bench.checkOperationQuery()
        case .captureBounded: try await bench.checkCaptureBounded()
        case .captureOnce: try await bench.checkCaptureOnce()
        case .captureSeveral: try await bench.checkCaptureSeveral()
        case .adjust: try await bench.checkAdjustment()
        case .release: try await bench.checkRelease()
        case .refund: try await bench.checkRefund()
        case .refundBounded: try await bench.checkRefundBounded()
        case .refundOtherCard: try await bench.checkRefundOtherCard()
        case .refundReversal: try await bench.checkRefundReversal()
        case .figures: try await bench.checkFigures()
        case .figuresRepeat: try await bench.checkFiguresRepeat()
        case .figuresQuery: try await bench.checkFiguresQuery()
        case .figuresItems: try await bench.checkFiguresItems()
        case .charge: try await bench.checkCharge()
        case .chargeRepeat: try await bench.checkChargeRepeat()
        case .chargeOtherBody: try await bench.checkChargeOtherBody()
        case .unknownToken: try await bench.checkUnknownToken()
        case .deletion: try await bench.checkDeletion()
        case .deletionRepeat: try await bench.checkDeletionRepeat()
        case .deletionEnds: try await bench.checkDeletionEnds()
        case .pinVerified: try await bench.checkPIN()
        case .pinContinuation: try await bench.checkContinuation()
        case .link: try await bench.checkLink()
        case .linkRepeat: try await bench.checkLinkRepeat()
        case .linkOtherBody: try await bench.checkLinkOtherBody()
        case .linkClosed: try await bench.checkClosed(.link)
        case .linkNeverOpened: try await bench.checkNeverOpened(.link)
        case .handover: try await bench.checkHandover()
        case .handoverClosed: try await bench.checkClosed(.handover)
        case .handoverNeverOpened: try await bench.checkNeverOpened(.handover)
        case .handoverTerminal: try await bench.checkOtherTerminal()
        case .receipt: try await bench.checkReceipt()
        case .receiptRepeat: try await bench.checkReceiptRepeat()
        case .receiptOtherTransaction: try await bench.checkReceiptOtherTransaction()
        case .receiptEnvelope: try await bench.checkReceiptEnvelope()
        }
    }

    /// Kills and starts it, and waits until it answers.
    private func checkRestart(_ bench: CheckBench) async throws(Complaint) {
        let sale = try await bench.approved()
        let unwanted = try bench.sale()
        try bench.demandAcknowledged(try await bench.reverse(unwanted))
        guard await restart?() == true else { throw Complaint("the command of --restart failed") }
        for attempt in 0..<150 {
            do throws(Complaint) {
                _ = try await health(bench)
                break
            } catch {
                guard attempt < 149 else { throw Complaint("after the restart: " + error.text) }
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        try await bench.demandSame(sale.answer, try await bench.status(of: sale.request.id), "after the restart")
        try await bench.demandSame(
            sale.answer, try await bench.authorize(sale.request), "after the restart, sent again")
        try await bench.demandDeclined(unwanted)
    }
}
