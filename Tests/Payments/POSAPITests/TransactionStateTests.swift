// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@Suite("The table of transaction states")
struct TransactionStateTests {
    @Test("Every state can be reached from the first one")
    func reachable() {
        var reached: Set<TransactionState> = [.created]
        var open: [TransactionState] = [.created]
        while let state = open.popLast() {
            for next in state.successors where reached.insert(next).inserted { open.append(next) }
        }
        #expect(reached == Set(TransactionState.allCases))
    }

    @Test("Every state leads to an end", arguments: TransactionState.allCases)
    func ends(_ state: TransactionState) {
        var reached: Set<TransactionState> = [state]
        var open = [state]
        while let state = open.popLast() {
            for next in state.successors where reached.insert(next).inserted { open.append(next) }
        }
        #expect(reached.contains { $0.successors.isEmpty })
    }

    @Test("Nothing can be cancelled or fail once the request may have left the house")
    func afterSending() {
        for state in [TransactionState.sent, .unknown, .reversing, .reversed, .approved] {
            #expect(state.successors.isDisjoint(with: [.cancelled, .failed, .completed]))
            #expect(!state.isCancellable)
        }
    }

    @Test("An uncertain payment blocks its order, a certain one does not", arguments: TransactionState.allCases)
    func blocking(_ state: TransactionState) {
        switch state {
        case .unknown, .sent, .sealed, .reversing: #expect(state.blocksOrder)
        case .approved, .declined, .delivered, .cancelled, .failed, .reversed, .completed: #expect(!state.blocksOrder)
        case .created, .preparing, .armed, .reading, .stored: break
        }
    }

    @Test("Only what is or may be approved can be taken back", arguments: TransactionState.allCases)
    func reversal(_ state: TransactionState) {
        switch state.reversalRule {
        case .begins: #expect(state == .approved && state.successors.contains(.reversing))
        case .follows: #expect(state.successors.contains(.reversing) && !state.isSettled)
        case .repeats: #expect([.reversing, .reversed].contains(state))
        case .refused(.queueStored): #expect([.stored, .delivered].contains(state))
        case .refused(let code):
            #expect(code == .transactionNotApproved)
            #expect(!state.successors.contains(.reversing))
        }
    }

    @Test("An uncertain payment is not settled")
    func unsettled() { #expect(!TransactionState.unknown.isSettled && !TransactionState.sent.isSettled) }
}
