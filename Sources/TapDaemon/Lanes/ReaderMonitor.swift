import ReaderCore
import ReaderPCSC
import Wire

/// Looks after the readers between taps, so that the till knows before the customer does that one is gone, and that it is
/// back. Opening them is the preparer's part.
final class ReaderMonitor: Sendable {
    private let store: TransactionStore
    private let preparer: LanePreparer
    private static let pause: Duration = .seconds(1)

    init(_ store: TransactionStore, _ preparer: LanePreparer) {
        self.store = store
        self.preparer = preparer
    }

    /// Looks at every idle reader once a second, until its task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            var isWatching = false
            while !Task.isCancelled {
                // Each lane by itself: one whose device hangs does not keep the others waiting.
                for lane in await store.lanesToCheck() { group.addTask { await self.check(lane) } }
                if !isWatching, await store.hasPCSCLane {
                    isWatching = true
                    group.addTask { await self.watch() }
                }
                do { try await Task.sleep(for: ReaderMonitor.pause) } catch { break }
            }
        }
    }

    private func check(_ lane: Lane) async {
        do throws(ReaderError) { try await lane.check() } catch {
            await store.notReady(lane.name, ErrorCode(opening: error))
            // What fails once may work at the next try: a worker that died, a connection that pcscd dropped.
            await preparer.laneFailed(lane.name)
        }
        await store.wasChecked(lane.name)
    }

    /// Without it a reader that is pulled would be noticed a second later, and one that is plugged in as well.
    private func watch() async {
        let watch: ReaderWatch
        do throws(ReaderError) { watch = try ReaderWatch() } catch { return }
        for await change in watch.changes {
            switch change {
            case .detached(let entry): await store.readerLeft(entry.identity.name)
            case .attached: for name in await store.lanesWithoutReader() { await preparer.laneAppeared(name) }
            }
        }
    }
}

extension TransactionStore {
    var hasPCSCLane: Bool { lanes.contains { $0.lane.usesPCSC } }

    /// Idle lanes whose reader works as far as is known and that nobody else does anything with; each once until it
    /// `wasChecked`.
    func lanesToCheck() -> [Lane] {
        var found: [Lane] = []
        for index in lanes.indices {
            let entry = lanes[index]
            guard entry.error == nil, entry.pendingPreparation == nil, entry.holder == nil, entry.preparation == nil,
                !entry.isBeingKept
            else { continue }
            lanes[index].isBeingKept = true
            found.append(entry.lane)
        }
        return found
    }

    func wasChecked(_ name: String) {
        guard let index = laneIndex(name) else { return }
        lanes[index].isBeingKept = false
    }

    /// Lanes for which a reader that was just plugged in may be.
    func lanesWithoutReader() -> [String] {
        lanes.filter { $0.lane.usesPCSC && $0.error != nil && $0.holder == nil }.map(\.lane.name)
    }

    /// A reader is not there any more. One that is in use finds out itself as well, unless its card was read already.
    func readerLeft(_ reader: String) {
        for entry in lanes where entry.reader?.name == reader { notReady(entry.lane.name, .readerDetached) }
    }
}
