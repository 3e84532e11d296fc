// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues

@testable import Transactions

/// Goes through every order of moves, breadth first. Stages that cannot be told apart by what happens next are one.
struct Orders {
    /// A move that changed the phase.
    struct Edge: Hashable {
        let from: String
        let to: String
        let byTime: Bool
    }

    private struct Step {
        let before: Int
        let move: Move?
    }

    private(set) var transitions = 0
    private(set) var states = 0
    /// So many moves, in every order, from every stage of the stories it began with.
    private(set) var depth = 0
    private(set) var edges: Set<Edge> = []
    /// Where a question or a reversal is put again, in time and in the same state.
    private(set) var asksAgain: Set<String> = []
    /// Milliseconds after which a phase goes on by itself, as seen on entering it.
    private(set) var timers: [String: Set<Int64>] = [:]
    /// What went wrong, each with the story that leads there.
    private(set) var failures: [String] = []
    private var seen: [Int: Int] = [:]
    private var steps: [Step] = []
    private var frontier: [(stage: Stage, step: Int)] = []

    /// - Parameters:
    ///   - stories: each stage on the way is a place to begin at.
    ///   - limit: of moves, after which no deeper level is begun.
    init(from start: Stage, along stories: [[Move]], with moves: [Move], limit: Int, depth longest: Int = .max) {
        let first = add(start, Step(before: -1, move: nil))
        if let due = start.machine.due { timers[start.label, default: []].insert(due - start.now.monotonic) }
        for story in stories {
            var stage = start
            var last = first
            for move in story where stage.allows(move) {
                let before = stage
                stage.play(move)
                note(move, before, stage)
                last = add(stage, Step(before: last, move: move))
            }
        }
        while !frontier.isEmpty, transitions < limit, depth < longest, failures.count < 10 {
            let level = frontier
            frontier = []
            for (stage, step) in level where failures.count < 10 { expand(stage, step, moves) }
            depth += 1
        }
    }

    private mutating func expand(_ stage: Stage, _ step: Int, _ moves: [Move]) {
        for move in moves where stage.allows(move) {
            // While a write is under way whatever comes only waits: one such input is as good as many.
            if stage.asked != nil, !move.isOfJournal, !stage.waiting.isEmpty { continue }
            if [.cancel, .claimed, .reverse, .forward, .forwardForgotten, .settleCharged, .settleNotCharged].contains(
                move),
                stage.wishes > 1
            {
                continue
            }
            var next = stage
            next.play(move)
            transitions += 1
            note(move, stage, next)
            _ = add(next, Step(before: step, move: move))
        }
    }

    private mutating func note(_ move: Move, _ before: Stage, _ after: Stage) {
        if move == .due, after.question > before.question || after.reversalQuestion > before.reversalQuestion {
            asksAgain.insert(before.label)
        }
        guard before.waiting.isEmpty, before.label != after.label else { return }
        let cause = move == .written ? before.cause : move
        edges.insert(Edge(from: before.label, to: after.label, byTime: cause == .due))
        if let due = after.machine.due {
            timers[after.label, default: []].insert(due - after.now.monotonic)
        }
    }

    /// - Returns: the step that led here first.
    private mutating func add(_ stage: Stage, _ step: Step) -> Int {
        let fingerprint = stage.fingerprint
        if let known = seen[fingerprint] { return known }
        seen[fingerprint] = steps.count
        states += 1
        steps.append(step)
        var ends = [(stage, "")]
        var dead = stage
        dead.die(wasTaken: false)
        ends.append((dead, ", dies"))
        if stage.asked != nil {
            dead = stage
            dead.die(wasTaken: true)
            ends.append((dead, ", dies once it is written"))
        }
        // What is on the disk is what is in the books: that was a death.
        if stage.disk.transaction.history.count != stage.books.transaction.history.count {
            dead = stage
            dead.cut()
            ends.append((dead, ", the power fails"))
        }
        for (each, death) in ends {
            var end = each
            if end.faults.isEmpty { end.settle() }
            guard let fault = end.faults.first else { continue }
            failures.append("\(fault): \(story(steps.count - 1))\(death)")
            return steps.count - 1
        }
        frontier.append((stage, steps.count - 1))
        return steps.count - 1
    }

    private func story(_ last: Int) -> String {
        var moves: [String] = []
        var index = last
        while index >= 0 {
            if let move = steps[index].move { moves.append("\(move)") }
            index = steps[index].before
        }
        return moves.reversed().joined(separator: ", ")
    }
}

extension Stage {
    /// The state as the table names it: an end by what it came to.
    fileprivate var label: String {
        switch machine.phase {
        case .leaving, .unwritten, .settled, .stored, .ended: machine.transaction.state.rawValue
        default: machine.phase.name
        }
    }

    /// The same for stages that cannot be told apart by what happens next.
    var fingerprint: Int {
        var hasher = Hasher()
        hasher.combine(machine.transaction.state)
        hasher.combine(machine.transaction.lane)
        add(machine.phase, &hasher)
        if let writing = machine.writing {
            hasher.combine(writing.write.changes.map(\.state))
            hasher.combine(writing.then.count)
            hasher.combine(writing.retryAt.map(left))
            add(writing.next, &hasher)
            hasher.combine(cause == .due)
        }
        hasher.combine(waiting)
        hasher.combine(books.transaction.state)
        hasher.combine(books.isQueued)
        hasher.combine(books.isConfirmed)
        hasher.combine(books.open)
        hasher.combine(books.transaction.settlement?.outcome)
        hasher.combine(disk.transaction.state)
        hasher.combine(disk.isPINAwaited)
        hasher.combine(told)
        hasher.combine(isResent)
        hasher.combine(openWishes.values.map(\.rawValue).sorted())
        hasher.combine(wishes)
        hasher.combine(heard.rawValue)
        hasher.combine(question == answeredQuestion)
        hasher.combine(sends)
        hasher.combine(isClaimed)
        hasher.combine(mustNotStay)
        hasher.combine(isStale)
        hasher.combine(endedUnwritten)
        return hasher.finalize()
    }

    /// Time to go; what is over is over, however long.
    private func left(_ time: Int64) -> Int64 { time == .max ? .max : max(-1, time - now.monotonic) }

    private func add(_ phase: Phase, _ hasher: inout Hasher) {
        hasher.combine(phase.name)
        switch phase {
        case .created(let presentation), .preparing(let presentation), .armed(let presentation),
            .reading(let presentation):
            hasher.combine(left(presentation.giveUpAt))
            hasher.combine(left(presentation.cardBy))
            hasher.combine(presentation.readyLanes)
            hasher.combine(presentation.collidedLanes)
            hasher.combine(presentation.winner)
            hasher.combine(presentation.staysOnCard)
            hasher.combine(presentation.hasPass)
            hasher.combine(presentation.isFailing)
            hasher.combine(presentation.message == .seePhone)
            hasher.combine(presentation.failedReads)
            hasher.combine(presentation.canceller)
            hasher.combine(presentation.wishes.count)
        case .sealed(let read, let time):
            hasher.combine(left(time))
            hasher.combine(min(60_001, now.wall.milliseconds - read.at.milliseconds))
            hasher.combine([read.pin != nil, read.entered != nil, read.hasLeft])
        case .offered(let offer):
            hasher.combine(left(offer.until))
            hasher.combine(min(60_001, now.monotonic - offer.read.takenAt))
            hasher.combine(offer.read.hasLeft)
            hasher.combine(offer.wishes.count)
        case .awaitingPIN(let wait):
            hasher.combine(left(wait.until))
            hasher.combine(wait.read.hasLeft)
            hasher.combine(wait.wishes.count)
            hasher.combine(min(60_001, now.monotonic - wait.read.takenAt))
        case .challenged(let challenge):
            hasher.combine(left(challenge.until))
            hasher.combine(challenge.read.spares.count)
            hasher.combine(min(60_001, now.monotonic - challenge.read.takenAt))
        case .sent(let question), .unknown(let question): add(question, &hasher)
        case .linked(let watch): hasher.combine(left(watch.due))
        case .approved(let time): hasher.combine(time.map(left))
        case .reversing(let reversal):
            hasher.combine(left(reversal.due))
            hasher.combine(reversal.isAsking)
            hasher.combine(min(reversal.plan.attempts, 10))
            hasher.combine(min(reversal.unseen, 2))
        case .leaving(let last, let time):
            hasher.combine(last.count)
            hasher.combine(left(time))
        case .unwritten(_, let time): hasher.combine(left(time))
        case .settled(_, let time): hasher.combine(left(time))
        case .stored, .ended: break
        }
    }

    private func add(_ question: Question, _ hasher: inout Hasher) {
        hasher.combine(left(question.askUntil))
        hasher.combine(min(60_001, now.monotonic - (question.read?.takenAt ?? 0)))
        hasher.combine(question.isOwed)
        hasher.combine(question.read?.pin != nil)
        hasher.combine(question.read?.spares.count)
        hasher.combine(question.continuation != nil)
        hasher.combine(question.owedTo != nil)
        hasher.combine(question.mustBeReversed)
        hasher.combine(question.kind)
        hasher.combine(question.keyLife)
        hasher.combine(question.isInDoubt)
        hasher.combine(question.pause.milliseconds)
        switch question.step {
        case .asking(let time): hasher.combine([1, left(time)])
        case .pausing(let time): hasher.combine([2, left(time)])
        case .resting: hasher.combine(3)
        }
        switch question.reader {
        case .held(let time): hasher.combine([4, left(time)])
        case .leaving(let time): hasher.combine([5, left(time)])
        case .free: hasher.combine(6)
        }
        switch question.reply {
        case nil: hasher.combine(7)
        case .answered(let answer): hasher.combine(answer.outcome.rawValue)
        case .running, .neverSeen, .refused, .notDelivered, .unusable:
            hasher.combine("\(question.reply.map { $0 } ?? .running)")
        }
    }
}
