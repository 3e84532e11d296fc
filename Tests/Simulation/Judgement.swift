// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Transactions

/// A difference between the books and what the payment services have booked, by the name that the audit gave it.
enum Finding: String, CaseIterable {
    case forgottenReversal = "A1 reversed on a 404, charged"
    case otherService = "A2 another service was asked than the one that charged"
    case forgottenKey = "A4 the same key charged twice, its record erased"
    case lateConfirmation = "A3 confirmed after its time, because the clock went back"
    case refusedAfterDoubt = "A5 declined after a doubt, charged"
    case sentTwice = "A6 stored sale charged twice"
    case sentTwiceOnline = "A6 sale charged twice, its service having forgotten it"
    case lostBooks = "A8 the same key charged twice, its books lost"
    case otherAmount = "A7 another amount than was charged"
    /// Money-safe, and without an end of its own: its service contradicts the demand, or has forgotten what it approved.
    case open = "open: a reversal or a stored sale that a person has to settle"
}

extension Story {
    /// Holds every transaction against the payment services' own books.
    ///
    /// - Returns: what has a name. What has none is in `faults`.
    mutating func judge() -> [Finding] {
        var found: [Finding] = []
        for number in rows.indices {
            let transaction = rows[number].transaction
            if traces[number].isConfirmedLate { found.append(.lateConfirmation) }
            if let first = traces[number].keyOf, transaction.state == .approved,
                rows[first].transaction.state == .approved
            {
                found.append(traces[first].isForgotten ? .lostBooks : .forgottenKey)
            }
            let charged = services.flatMap { $0.charged(number) }
            var wanted: [Int64] = []
            switch transaction.state {
            case .approved: wanted = [(transaction.result?.amountApproved ?? transaction.amount).value]
            case .declined, .cancelled, .failed, .reversed, .completed: break
            case .reversing,
                .unknown where traces[number].wasForwarded:
                // What a person does not see is lost (rule R1).
                if rows[number].open == nil { faults.append("\(number) is \(transaction.state), and no open item") }
                found.append(.open)
                continue
            default: faults.append("\(number) is still \(transaction.state)")
            }
            guard charged != wanted else { continue }
            if let finding = name(number, charged) {
                found.append(finding)
                tell("\(number): \(finding.rawValue): \(transaction.state), \(charged) charged")
            } else {
                faults.append("\(number): \(transaction.state), \(charged) charged")
            }
        }
        return found
    }

    private func name(_ number: Int, _ charged: [Int64]) -> Finding? {
        let trace = traces[number]
        if trace.askedOf.union(trace.reversedBy).count > 1 { return .otherService }
        if charged.count > 1 { return trace.wasForwarded ? .sentTwice : .sentTwiceOnline }
        switch rows[number].transaction.state {
        case .reversed where trace.isForgiven: return .refusedAfterDoubt
        case .reversed where trace.wasNeverSeen: return .forgottenReversal
        case .declined where trace.isInDoubt: return .refusedAfterDoubt
        case .approved where charged.count == 1: return .otherAmount
        default: return nil
        }
    }
}

extension Effect {
    /// For a story that is told.
    var name: String {
        switch self {
        case .write(let write): "write \(write.changes.map(\.state.rawValue))"
        case .outward(.publish(let event), _): event.name.rawValue
        case .outward(let outward, _): Mirror(reflecting: outward).children.first?.label ?? "\(outward)"
        case .local(let local): Mirror(reflecting: local).children.first?.label ?? "\(local)"
        }
    }
}

extension Input {
    var name: String {
        switch self {
        case .replied(let reply, let question):
            "reply \(Mirror(reflecting: reply).children.first?.label ?? "\(reply)") to \(question)"
        case .acknowledged(let acknowledgement, let question): "\(acknowledgement) to reversal \(question)"
        case .notWritten(_, let failure): "notWritten \(failure)"
        case .ended(let code, _, _): "ended \(code.rawValue)"
        default: Mirror(reflecting: self).children.first?.label ?? "\(self)"
        }
    }
}
