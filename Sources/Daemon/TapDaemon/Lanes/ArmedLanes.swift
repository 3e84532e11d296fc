// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import ReaderCore
import Transactions

/// The lanes on which one transaction waits for its card, and their threads.
struct ArmedLanes: Sendable {
    let id: TransactionID
    let lanes: [Lane]
    let race: LaneRace
    let runner: TransactionRunner

    /// What a reader may take beyond the time for the card: a card that lay there has two seconds to go.
    static let grace: Duration = .seconds(5)
    /// How long a thread may take to come back once its lane does not wait any more.
    static let returnTime: Duration = .seconds(3)

    init(_ id: TransactionID, _ lanes: [Lane], _ race: LaneRace, _ runner: TransactionRunner) {
        self.id = id
        self.lanes = lanes
        self.race = race
        self.runner = runner
    }

    /// Occupies every lane's thread with `work`, until all have come back. A lane that has not won is free as soon as its
    /// thread is; one whose thread stays away is called faulty.
    ///
    /// - Parameter deadline: seconds for the card.
    func occupy(deadline: Int, _ work: @escaping @Sendable (Lane, RaceEntry) async -> Void) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await race.isDecided.wait(atMost: .seconds(deadline) + ArmedLanes.grace)
                if !race.isDecided.hasFired { race.giveUp() }
            }
            for lane in lanes {
                let hasReturned = OneShot()
                group.addTask {
                    await work(lane, race.place(of: lane.name))
                    if race.winner != lane.name {
                        await runner.change { $0.lanes.table.release(by: id, only: lane.name) }
                    }
                    hasReturned.fire()
                }
                group.addTask { await watch(lane, hasReturned) }
            }
        }
    }

    private func watch(_ lane: Lane, _ hasReturned: OneShot) async {
        await race.isDecided.wait()
        guard race.winner != lane.name else { return }
        await hasReturned.wait(atMost: ArmedLanes.returnTime)
        if !hasReturned.hasFired { await runner.change { $0.lanes.notReady(lane.name, .readerFaulty) } }
    }
}
