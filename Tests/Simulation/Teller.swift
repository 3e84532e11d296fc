// SPDX-License-Identifier: Apache-2.0
import PSPAPI
import PaymentValues
import Transactions

/// A payment service that is asked for what comes after an approval. Its purse is the truth. What it says first and in full is
/// true; it may lose, delay, repeat, contradict and forget what it need not keep any more.
struct Teller {
    /// How often it does what, in thousandths.
    struct Repertoire {
        var declines, loses, refuses, lies, isLate: UInt64

        init(_ dice: inout Dice) {
            let mood = [0, 100, 300, 600][Int(dice.upTo(4))] as UInt64
            (declines, loses, refuses, lies, isLate) = (100, mood, mood / 6, mood, mood / 2)
        }
    }

    var repertoire: Repertoire
    /// For so long it keeps what it has answered, from the first request on.
    let keyLife: Int64
    var (authorised, hold, captured, released, refunded): (Int64, Int64, Int64, Int64, Int64)
    let maximum: Int64?
    var isReversed = false
    private(set) var answers: [Int: AdapterOperationAnswer] = [:]
    private var firstSeen: [Int: Int64] = [:]
    /// What was really carried out; `nil` for what was declined.
    private(set) var carriedOut: [Int: Int64?] = [:]
    private(set) var faults: [String] = []

    init(approved: Int64, isManual: Bool, maximum: Int64?, _ dice: inout Dice) {
        repertoire = Repertoire(&dice)
        keyLife = dice.happens(800) ? 86_400_000 : 0
        (authorised, hold) = (approved, isManual ? approved : 0)
        (captured, released, refunded) = (isManual ? 0 : approved, 0, 0)
        self.maximum = maximum
    }

    mutating func becomeHonest() {
        (repertoire.loses, repertoire.refuses, repertoire.lies, repertoire.isLate) = (0, 0, 0, 0)
    }

    /// What a wish came to; 0 for nothing.
    func done(_ number: Int) -> Int64? { carriedOut[number] ?? nil }

    /// - Returns: nothing where the request, or its answer, is lost.
    mutating func receive(
        _ number: Int, _ id: OperationID, _ wish: ModelLedger.Wish, _ value: Int64, at now: Int64, _ dice: inout Dice
    ) -> OperationReply {
        forget(at: now)
        let isFirst = answers[number] == nil
        if dice.happens(repertoire.loses) { return dice.happens(300) ? .notDelivered : .unusable }
        if isFirst, dice.happens(repertoire.refuses) { return dice.happens(500) ? .refused : .neverSeen }
        if isFirst {
            firstSeen[number] = now
            answers[number] = carryOut(number, id, wish, value, &dice)
        }
        return say(number, id, mayDeny: !isFirst, &dice)
    }

    mutating func tell(_ number: Int, _ id: OperationID, at now: Int64, _ dice: inout Dice) -> OperationReply {
        forget(at: now)
        if dice.happens(repertoire.lies) {
            let lies: [OperationReply] = [.neverSeen, .neverSeen, .refused, .otherBody, .unusable, .running]
            return lies[Int(dice.upTo(Int64(lies.count)))]
        }
        return answers[number] == nil ? .neverSeen : say(number, id, mayDeny: true, &dice)
    }

    private mutating func say(
        _ number: Int, _ id: OperationID, mayDeny: Bool, _ dice: inout Dice
    ) -> OperationReply {
        guard var answer = answers[number] else { return .neverSeen }
        guard dice.happens(repertoire.lies) else { return .answered(answer) }
        switch dice.upTo(mayDeny ? 8 : 6) {
        case 0, 1: return .unusable
        case 2: return .running
        case 3: answer.outcome = .pending
        case 4: answer.id = OperationID(at: Timestamp(milliseconds: 1))
        case 5:
            answer.outcome = .approved
            answer.amountDone = Money(value: 77_777_777, currency: OperationStory.euro)
        case 6: return .neverSeen
        default: return .refused
        }
        return .answered(answer)
    }

    private mutating func forget(at now: Int64) {
        for (number, seen) in firstSeen where now - seen > keyLife && answers[number] != nil {
            answers[number] = nil
            firstSeen[number] = nil
        }
    }

    private mutating func carryOut(
        _ number: Int, _ id: OperationID, _ wish: ModelLedger.Wish, _ value: Int64, _ dice: inout Dice
    ) -> AdapterOperationAnswer {
        if carriedOut[number] != nil { faults.append("\(number) is carried out twice") }
        var answer = AdapterOperationAnswer(id: id, outcome: .declined)
        if isReversed { faults.append("\(number) is asked for after the reversal") }
        guard !dice.happens(repertoire.declines) else {
            carriedOut[number] = .some(nil)
            return answer
        }
        answer.outcome = .approved
        var done = value
        switch wish {
        case .capture(_, _, let isFinal):
            let most = max(hold, (maximum ?? 0) - captured)
            if hold <= 0 || value > most { faults.append("\(number) captures too much") }
            captured += value
            hold -= min(value, hold)
            if isFinal { (released, hold) = (released + hold, 0) }
        case .adjust(let total):
            if hold <= 0 || captured > 0 { faults.append("\(number) adjusts what is not held") }
            (authorised, hold) = (authorised + total - hold, total)
        case .release:
            if value > hold { faults.append("\(number) releases too much") }
            (released, hold) = (released + value, hold - value)
        case .refund:
            if value > captured - refunded { faults.append("\(number) gives back too much") }
            if value > 1, dice.happens(100) {
                done = value / 2
                answer.outcome = .partial
                answer.amountDone = Money(value: done, currency: OperationStory.euro)
            }
            refunded += done
        case .extend, .reverse: break
        }
        carriedOut[number] = done
        return answer
    }
}
