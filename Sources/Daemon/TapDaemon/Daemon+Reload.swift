// SPDX-License-Identifier: Apache-2.0
import Configuration
import Journal
public import Logging
import POSAPI
import PaymentValues
import ReaderCore
public import Settings

extension Daemon {
    /// Takes a new configuration without a stop: who may do what, the adapter's socket and times, terminal, merchant,
    /// programmes, lanes and groups. Transactions that run keep what they began with; a lane that is in use is changed
    /// once it is free.
    ///
    /// - Parameter make: reads and checks all of it, given what is in force; nothing changes where it throws.
    /// - Returns: why it was not taken; the one before stays in force then.
    public func reload(
        _ make: @Sendable (DaemonConfiguration) throws(ConfigurationError) -> DaemonConfiguration
    ) async -> ConfigurationError? {
        do throws(ConfigurationError) {
            let before = settings.snapshot.configuration
            let new = try make(before)
            if before.mode == .live, new.mode == .test, let lane = new.lanes.first(where: \.reader.isVirtual) {
                throw ConfigurationError(
                    "lane \(lane.name)", "its reader is a virtual one", remedy: "restart nfc-tapd for test mode")
            }
            let lanes = try await newLanes(new, before)
            let later = settings.replace(with: new)
            await runner.change { [settings] books in
                books.lanes.apply(settings.snapshot, lanes)
                // Lanes that stand alone wait on with what they are told now.
                for wait in books.standing.values { wait.cancel() }
            }
            // A service that is configured again is asked at once.
            await runner.hasten()
            queue.wake()
            logger.notice("configuration read again", metadata: ["lanes": "\(new.lanes.count)"])
            new.warnOfFormerNames(logger)
            let restart = later.isEmpty ? "" : ", after a restart: \(later.joined(separator: ", "))"
            await trail.note(
                AuditEntry(.configuration, detail: "applied at a reload, lanes: \(new.lanes.count)\(restart)"))
            if !later.isEmpty {
                logger.warning(
                    "configuration needs a restart", metadata: ["settings": "\(later.joined(separator: ","))"])
            }
            return nil
        } catch {
            logger.error("configuration not taken, the one before stays", metadata: ["error": "\(error)"])
            settings.refuse(error)
            await trail.note(
                AuditEntry(
                    .configuration, subject: error.key,
                    detail: "refused at a reload: \(error.problem); the one before stays"))
            return error
        }
    }

    /// A lane for each setting that is new or whose reader is another one; `nil` for those that stay.
    private func newLanes(
        _ new: DaemonConfiguration, _ before: DaemonConfiguration
    ) async throws(ConfigurationError) -> [(name: String, lane: Lane?)] {
        var lanes: [(name: String, lane: Lane?)] = []
        for setting in new.lanes {
            if before.lanes.contains(where: { $0.name == setting.name && $0.isSame(as: setting) }) {
                lanes.append((setting.name, nil))
                continue
            }
            do throws(ReaderError) {
                lanes.append((setting.name, try Lane(name: setting.name, source: setting.reader)))
            } catch {
                throw ConfigurationError("lane \(setting.name)", "has no thread: \(error)", remedy: "raise TasksMax=")
            }
        }
        return lanes
    }

    /// One line for the service manager: `test mode, 2 of 3 lanes ready, 0 stored, 1 reversal open`.
    public func summary() async -> String {
        let lanes = await runner.laneStatuses()
        let ready = lanes.count { $0.state == .ready || $0.state == .busy }
        let outline = await queue.outline()
        let waiting = outline.extent.map { "\($0.count) stored" } ?? "stored payments not known"
        let trouble = outline.isOverdue == true ? ", overdue" : ""
        let unread = outline.failure == nil ? "" : ", queue not readable"
        let reversals = await runner.books.unfinishedReversals.count
        let open = await queue.openItems()
        let items = open.map { $0.count == 0 ? "" : ", \($0.count) open item\($0.count == 1 ? "" : "s")" }
        let mode = settings.snapshot.mode.rawValue
        let refused = settings.status.error == nil ? "" : ", newer configuration refused"
        let journal = await journalHealth.status()
        let unwritable = journal.writable ? "" : ", journal not writable"
        let damaged = journal.damaged.isEmpty ? "" : ", \(journal.damaged.count) damaged"
        return "\(mode) mode, \(ready) of \(lanes.count) lanes ready, adapter \(health.state.state.rawValue), "
            + "\(waiting)\(trouble)\(unread), "
            + "\(reversals) reversal\(reversals == 1 ? "" : "s") open\(items ?? ", open items not known")"
            + "\(unwritable)\(damaged)\(refused)"
    }

    /// Returns once the store and the journal's thread have answered: a daemon of which one hangs is not alive.
    public func pulse() async {
        _ = await runner.books.isStopping
        await runner.journal.pulse()
    }
}

extension DaemonConfiguration {
    /// Says which settings the file has by a former name; each counts as if it had its own.
    public func warnOfFormerNames(_ logger: Logger) {
        for setting in file.formerNames {
            logger.warning(
                "setting by its former name", metadata: ["setting": "\(setting.key)", "remedy": "\(setting.remedy)"])
        }
    }
}
