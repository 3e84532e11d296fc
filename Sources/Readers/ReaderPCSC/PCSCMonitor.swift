// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import ReaderCore
import ReaderModels

/// Tells of readers that come and go, pcscd's own coming and going included.
///
/// Blocking, for one thread. What changed between two calls is told by the next one.
public final class PCSCMonitor {
    public enum Change: Equatable, Sendable {
        case attached(PCSCReaders.Entry)
        case detached(PCSCReaders.Entry)
    }

    private let callGuard: CallGuard
    private var context: SmartCardContext?
    private var attached: [PCSCReaders.Entry] = []

    /// - Throws: `.faulty` where the system has no thread or file descriptor left.
    public init() throws(ReaderError) { callGuard = try CallGuard() }

    /// Waits for changes. The first call tells of the readers that are there already. Without pcscd there are no
    /// readers; it is looked for again with growing pauses.
    ///
    /// - Returns: the changes in pcscd's order, departures first; empty at `deadline`.
    /// - Throws: `.cancelled`, or `.serviceUnavailable(.accessDenied)` where pcscd refuses us.
    public func changes(
        until deadline: TapInstant, cancellation: TapCancellation
    ) throws(ReaderError) -> [Change] {
        var pause: UInt64 = 100
        while true {
            do throws(PCSCFailure) {
                let changes = try look()
                if !changes.isEmpty || monotonicNow() >= deadline { return changes }
                try wait(until: deadline, cancellation: cancellation)
            } catch {
                switch error.meaning {
                case .cancelled, .accessDenied: throw error.readerError
                case .connectionLost, .notRunning, .otherVersion, .stuck, .cardLost, .mute, .otherProtocol, .inUse,
                    .readerGone, .readerUnavailable, .timedOut, .other:
                    context = nil
                }
                let changes = update([])
                if !changes.isEmpty || monotonicNow() >= deadline { return changes }
                let end = min(monotonicNow().advanced(byMilliseconds: pause), deadline)
                try cancellation.sleep(until: end)
                pause = min(pause * 2, 500)
            }
        }
    }

    /// The list itself says what changed: the notification misses readers that came or went between two waits.
    private func look() throws(PCSCFailure) -> [Change] {
        if context == nil { context = try SmartCardContext(guardedBy: callGuard) }
        guard let link = context?.link else { return [] }
        let names = try callGuard.run(within: .service, severing: link) { () throws(PCSCFailure) in
            try context?.readers() ?? []
        }
        return update(names)
    }

    private func update(_ names: [String]) -> [Change] {
        let gone = attached.filter { !names.contains($0.identity.name) }
        let come = names.filter { name in !attached.contains { $0.identity.name == name } }.map { name in
            let name = PCSCReaderName(name)
            return PCSCReaders.Entry(identity: ReaderIdentity(name), slot: name.slot)
        }
        attached = attached.filter { !gone.contains($0) } + come
        return gone.map { .detached($0) } + come.map { .attached($0) }
    }

    private func wait(until deadline: TapInstant, cancellation: TapCancellation) throws(PCSCFailure) {
        _ = try context?.nextState(
            of: SmartCardContext.allReaders, unless: .unaware, until: deadline, cancellation: cancellation,
            guardedBy: callGuard)
    }

}
