// SPDX-License-Identifier: Apache-2.0
import PaymentValues
import Testing

@testable import Transactions

struct MachineOrderTests {
    @Test(arguments: Scenario.all) func `R1 R2 R3 every order of moves keeps the rules`(_ scenario: Scenario) {
        let orders = scenario.orders()
        for failure in orders.failures { Issue.record("\(scenario): \(failure)") }
        // Three moves from every stage of the stories that lead through all states.
        #expect(orders.depth >= 3, "reached \(orders.depth)")
        #expect(
            orders.transitions > 20_000,
            "\(scenario): \(orders.transitions) moves, \(orders.states) states, depth \(orders.depth)")
        if Scenario.isTold {
            print("\(scenario): \(orders.transitions) moves, \(orders.states) states, depth \(orders.depth)")
        }
    }
}
