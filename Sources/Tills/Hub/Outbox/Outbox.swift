// SPDX-License-Identifier: Apache-2.0
/// What one output has still to send, in order, as a machine without I/O: at least once, one at a time.
///
/// An item is on the disk before its first attempt. Times are of a clock that nobody sets, in milliseconds; after a restart an item is
/// tried at once. Only how old an item is when the program starts is judged by the wall clock.
package struct Outbox: Sendable {
    package struct Item: Codable, Equatable, Sendable {
        /// Counts up over restarts, from 1.
        package var number: UInt64
        /// The same in each attempt.
        package var id: String
        package var body: String
        /// Wall clock, milliseconds since 1970.
        package var writtenAt: Int64
        package var attempts = 0
    }

    /// Why an item will not be sent any more.
    package enum End: String, Codable, CaseIterable, Sendable {
        case done
        /// The receiver refused it for good.
        case refused
        /// Tried as often as the schedule has times.
        case exhausted
        /// Older than the output wants.
        case expired
    }

    /// A change, to be written down.
    package enum Line: Codable, Equatable, Sendable {
        case added(Item)
        case tried(UInt64, Int)
        case ended(UInt64, End)
        /// An id whose item is gone.
        case known(String)
    }

    /// What came of an attempt.
    package enum Answer: Equatable, Sendable {
        case done
        /// - Parameter seconds: as the receiver wants it; `nil` for the schedule.
        case retry(after: Int?)
        case refused
        /// The output wants nothing any more.
        case stop
        /// The line was lost: tried again as soon as there is one, without counting.
        case lost
    }

    package enum Turn: Equatable, Sendable {
        case send(Item)
        /// Milliseconds of the clock that nobody sets; `nil` until something is added.
        case wait(until: UInt64?)
    }

    package enum Refusal: Error, Equatable, Sendable {
        /// The same id is here already, or was among the last.
        case known
        case full
    }

    /// Seconds before each attempt, as services of Standard Webhooks publish them.
    package static let schedule = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]
    package static let longestRetryAfter = 3_600
    package static let capacity = 10_000
    /// Ids and dead items that are kept.
    package static let remembered = 1_000

    /// How many seconds an item is good for; 0 for ever.
    package let life: Int
    package private(set) var waiting: [Item] = []
    /// Refused and exhausted ones, oldest first.
    package private(set) var dead: [Item] = []
    package private(set) var ended: [End: UInt64] = [:]
    package private(set) var isStopped = false
    /// In the order in which they came.
    private var ids: [String] = []
    private var known: Set<String> = []
    private var next: UInt64 = 1
    /// When the first one may be tried.
    private var due: UInt64 = 0
    private var inFlight: UInt64?
    /// When each that waits was taken in, by the clock that nobody sets; those of an earlier run before that began.
    private var born: [UInt64: Int64] = [:]

    package init(life: Int = 0) { self.life = life }

    // MARK: - What was written down

    /// Takes a line of an earlier run.
    package mutating func read(_ line: Line) {
        switch line {
        case .added(let item):
            guard item.number >= next else { return }
            next = item.number &+ 1
            waiting.append(item)
            remember(item.id)
        case .tried(let number, let attempts):
            guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
            waiting[index].attempts = attempts
        case .ended(let number, let end): remove(number, end)
        case .known(let id): remember(id)
        }
    }

    /// Lines that say the same as all that were read and written.
    package var lines: [Line] {
        let present = Set((dead + waiting).map(\.id))
        return ids.filter { !present.contains($0) }.suffix(Outbox.remembered).map { .known($0) }
            + dead.flatMap { [.added($0), .ended($0.number, .refused)] } + waiting.map { .added($0) }
    }

    /// The earlier run's lines have been read.
    ///
    /// - Parameters:
    ///   - wall: milliseconds since 1970. An item from the future is as old as it is young: a clock was set.
    ///   - now: milliseconds.
    package mutating func begin(wall: Int64, now: UInt64) {
        for item in waiting {
            let (age, overflow) = wall.subtractingReportingOverflow(item.writtenAt)
            let past = overflow ? Int64.max / 2 : Int64(clamping: min(age.magnitude, UInt64(Int64.max / 2)))
            born[item.number] = Int64(clamping: now) - past
        }
    }

    // MARK: - What happens

    /// - Throws: why it is not taken.
    package mutating func add(
        id: String, body: String, wall: Int64, now: UInt64
    ) throws(Refusal) -> Line {
        guard !known.contains(id) else { throw .known }
        guard waiting.count < Outbox.capacity else { throw .full }
        let item = Item(number: next, id: id, body: body, writtenAt: wall)
        next &+= 1
        waiting.append(item)
        born[item.number] = Int64(clamping: now)
        remember(id)
        return .added(item)
    }

    /// Takes back what could not be written down.
    package mutating func withdraw(_ id: String) {
        waiting.removeAll { $0.id == id }
        ids.removeAll { $0 == id }
        known.remove(id)
    }

    /// What is to be done now. Nothing is sent while something is on its way.
    ///
    /// - Returns: items that became too old meanwhile as lines, and what comes then.
    package mutating func turn(now: UInt64) -> (lines: [Line], turn: Turn) {
        var lines: [Line] = []
        if inFlight == nil {
            while let first = waiting.first, isExpired(first.number, now) {
                lines.append(.ended(first.number, .expired))
                remove(first.number, .expired)
                due = 0
            }
        }
        guard inFlight == nil, !isStopped, let first = waiting.first else { return (lines, .wait(until: nil)) }
        guard now >= due else {
            return (lines, .wait(until: life > 0 ? min(due, end(of: first.number)) : due))
        }
        inFlight = first.number
        return (lines, .send(first))
    }

    /// - Parameter jitter: −1 to 1: a tenth of the pause each way.
    package mutating func answered(
        _ number: UInt64, _ answer: Answer, now: UInt64, jitter: Double = 0
    ) -> [Line] {
        guard inFlight == number, let index = waiting.firstIndex(where: { $0.number == number }) else { return [] }
        inFlight = nil
        switch answer {
        case .done: return end(number, .done)
        case .refused: return end(number, .refused)
        case .stop:
            isStopped = true
            return []
        case .lost: return []
        case .retry(let seconds):
            waiting[index].attempts += 1
            let attempts = waiting[index].attempts
            guard attempts < Outbox.schedule.count else { return end(number, .exhausted) }
            let pause: Double
            if let seconds {
                pause = Double(min(max(0, seconds), Outbox.longestRetryAfter))
            } else {
                pause = Double(Outbox.schedule[attempts]) * (1 + 0.1 * min(1, max(-1, jitter)))
            }
            due = now &+ UInt64(pause * 1_000)
            return [.tried(number, attempts)]
        }
    }

    private mutating func end(_ number: UInt64, _ end: End) -> [Line] {
        remove(number, end)
        due = 0
        return [.ended(number, end)]
    }

    private mutating func remove(_ number: UInt64, _ end: End) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        let item = waiting.remove(at: index)
        born[number] = nil
        ended[end, default: 0] += 1
        guard end == .refused || end == .exhausted else { return }
        dead.append(item)
        if dead.count > Outbox.remembered { dead.removeFirst() }
    }

    private func end(of number: UInt64) -> UInt64 {
        UInt64(clamping: (born[number] ?? .min / 2).addingReportingOverflow(Int64(life) * 1_000).partialValue)
    }

    private func isExpired(_ number: UInt64, _ now: UInt64) -> Bool { life > 0 && now >= end(of: number) }

    private mutating func remember(_ id: String) {
        guard known.insert(id).inserted else { return }
        ids.append(id)
        if ids.count > Outbox.remembered + Outbox.capacity { known.remove(ids.removeFirst()) }
    }
}
