// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import ReaderCore
import ReaderPCSC
import Transactions

/// Looks after the readers between taps, so that the till knows before the customer does that one is gone, and that it is
/// back. Opening them is the preparer's part.
final class ReaderMonitor: Sendable {
    private let runner: TransactionRunner
    private var preparer: LanePreparer { LanePreparer(runner: runner) }
    private static let pause: Duration = .seconds(1)

    init(_ runner: TransactionRunner) { self.runner = runner }

    /// Looks at every idle reader once a second, until its task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            var isWatching = false
            while !Task.isCancelled {
                // Each lane by itself: one whose device hangs does not keep the others waiting.
                for lane in await runner.change({ $0.lanes.lanesToCheck() }) {
                    group.addTask { await self.check(lane) }
                }
                if !isWatching, await runner.books.lanes.hasPCSCLane {
                    isWatching = true
                    group.addTask { await self.watch() }
                }
                do { try await Task.sleep(for: ReaderMonitor.pause) } catch { break }
            }
        }
    }

    private func check(_ lane: Lane) async {
        do throws(ReaderError) { try await lane.check() } catch {
            await runner.change { $0.lanes.notReady(lane.name, ErrorCode(opening: error)) }
            // What fails once may work at the next try: a worker that died, a connection that pcscd dropped.
            await preparer.laneFailed(lane.name)
        }
        await runner.change { $0.lanes.table.wasChecked(lane.name) }
    }

    /// Without it a reader that is pulled would be noticed a second later, and one that is plugged in as well.
    private func watch() async {
        let watch: ReaderWatch
        do throws(ReaderError) { watch = try ReaderWatch() } catch { return }
        for await change in watch.changes {
            switch change {
            case .detached(let entry): await runner.change { $0.lanes.readerLeft(entry.identity.name) }
            case .attached: for name in await runner.books.lanes.withoutReader { await preparer.laneAppeared(name) }
            }
        }
    }
}
