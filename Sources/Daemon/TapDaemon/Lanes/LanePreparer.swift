// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Envelope
import Glibc
import Logging
import POSAPI
import PaymentValues
import ReaderCore
import Transactions

/// Makes lanes ready for a card before somebody wants to tap, and keeps them so.
struct LanePreparer: Sendable {
    let runner: TransactionRunner
    /// Preparations run here: they outlive their callers.
    private var work: WorkQueue { runner.services.work }
    private var logger: Logger { runner.logger }

    /// How long a reader may take to be opened: longer than any driver's own limit.
    static let readerTime: Duration = .seconds(15)
    /// How long the adapter may take to say how it is, before the lane is ready without its word.
    static let adapterTime: Duration = .seconds(1)
    /// Seconds before its end in which a preparation is renewed, and between two attempts at that.
    static let renewal: Int64 = 3_600
    static let renewalPause: Int64 = 60

    /// Prepares every lane that needs it, at once and whenever one does, until its task is cancelled.
    func run() async {
        var power = PowerWatch()
        while !Task.isCancelled {
            if power.hasSlept(.now()) {
                logger.notice("machine was suspended: lanes are prepared again")
                await runner.change { $0.lanes.table.forgetPreparations(because: .resume) }
            }
            for lane in await runner.change({ $0.lanes.takeRetired() }) { work.add { await lane.close() } }
            for (name, reason) in await runner.change({ $0.lanes.lanesToPrepare(at: .now) }) {
                await begin(name, reason)
            }
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// A reader that may be this lane's was connected.
    func laneAppeared(_ name: String) async { await begin(name, .readerAttached) }

    /// A lane's reader has just failed while nobody used it.
    func laneFailed(_ name: String) async { await begin(name, .retry) }

    /// Somebody wants the lane to be ready: joins the preparation that runs, or begins one.
    ///
    /// - Returns: `nil` where the lane is prepared.
    func join(_ name: String) async -> LanePreparation? {
        guard let (preparation, isNew) = await runner.change({ $0.lanes.joinPreparation(of: name) }) else { return nil }
        if isNew { run(preparation, name) }
        return preparation
    }

    /// Where a transaction may go on.
    enum Readiness {
        case ready([String])
        case failed(ErrorCode)
    }

    /// Lets an accepted transaction wait, in state `preparing`, until one of its lanes is prepared. Lanes of a group that
    /// are ready are not kept waiting by one that is not: that one is let go.
    func awaitPreparation(
        _ lanes: [Lane], for id: TransactionID, _ isUnwanted: OneShot
    ) async -> Readiness {
        var preparations: [String: LanePreparation] = [:]
        for lane in lanes { preparations[lane.name] = await join(lane.name) }
        if preparations.count == lanes.count {
            await runner.take(.preparing, id)
            for (name, preparation) in preparations { runner.publish(preparation.progress(name, for: id)) }
            await LanePreparer.wait(Array(preparations.values), orUntil: isUnwanted)
            if isUnwanted.hasFired { return .failed(.readCancelled) }
        }
        let ready = lanes.filter { preparations[$0.name].map { $0.finished.hasFired && $0.failure == nil } ?? true }
        guard !ready.isEmpty else {
            return .failed(lanes.compactMap { preparations[$0.name]?.failure }.first ?? .internalFault)
        }
        return .ready(ready.map(\.name))
    }

    /// Returns when one has come to a good end, all have come to an end, or `occasion` happens.
    private static func wait(_ preparations: [LanePreparation], orUntil occasion: OneShot) async {
        await withTaskGroup(of: Bool.self) { group in
            for preparation in preparations {
                group.addTask {
                    await preparation.finished.wait()
                    return preparation.failure == nil
                }
            }
            group.addTask {
                await occasion.wait()
                return true
            }
            var left = preparations.count
            for await isEnough in group {
                left -= 1
                if isEnough || left == 0 { break }
            }
            group.cancelAll()
        }
    }

    private func begin(_ name: String, _ reason: PrepareReason) async {
        guard let preparation = await runner.change({ $0.lanes.beginPreparation(of: name, reason) }) else { return }
        run(preparation, name)
    }

    private func run(_ preparation: LanePreparation, _ name: String) {
        work.add {
            let failure = await carryOut(preparation, name)
            let end = failure == nil ? expiry() : nil
            await runner.change { $0.lanes.endPreparation(preparation, of: name, failure, until: end) }
        }
    }

    /// - Returns: what went wrong.
    private func carryOut(_ preparation: LanePreparation, _ name: String) async -> ErrorCode? {
        await tell(preparation, name, .reader)
        switch await openReader(name) {
        case .success(let reader): await runner.change { $0.lanes.attached(name, reader) }
        case .failure(let error): return ErrorCode(opening: error)
        }
        // From here on it will come to something: a quiet attempt is told like any other.
        preparation.join()
        await tell(preparation, name, .adapter)
        await runner.services.health.look(atMost: LanePreparer.adapterTime)
        await tell(preparation, name, .profile)
        // It says what it allows.
        if let failure = await runner.profiles.refreshForLane() { return failure }
        await tell(preparation, name, .terminal)
        return checkTerminal()
    }

    private func tell(_ preparation: LanePreparation, _ name: String, _ step: PrepareStep) async {
        preparation.begin(step)
        await runner.books.lanes.tellProgress(of: preparation, name)
    }

    /// A reader that never comes back from being opened costs its own lane only: it is waited for so long, and the next
    /// attempt waits for the same call.
    private func openReader(_ name: String) async -> Result<LaneStatus.Reader, ReaderError> {
        let found = await runner.change { $0.lanes.opening(of: name) }
        guard let (opening, lane) = found else { return .failure(.detached) }
        if let lane {
            work.add {
                do throws(ReaderError) {
                    opening.end(.success(try await lane.attach()))
                } catch {
                    opening.end(.failure(error))
                }
                await runner.change { $0.lanes.openingEnded(opening, of: name) }
            }
        }
        return await opening.result(atMost: LanePreparer.readerTime) ?? .failure(.faulty(code: Int64(ETIMEDOUT)))
    }

    /// Seals nothing to the payment service's key, as a tap would its read.
    private func checkTerminal() -> ErrorCode? {
        let recipient = runner.profiles.currentTerminal().recipient
        do {
            try recipient.checkPeriod(at: UInt64(max(0, Timestamp.now.milliseconds / 1_000)))
            _ = try JWE.seal(SecretBytes(capacity: 1) { $0.append(0) }, to: recipient)
            return nil
        } catch {
            logger.error("terminal not usable", metadata: ["error": "\(error)"])
            return .envelopeKeyUnusable
        }
    }

    /// Seconds since 1970 until when what was prepared is good.
    private func expiry() -> Int64? { runner.profiles.currentTerminal().recipient.expires.map { Int64(clamping: $0) } }
}
