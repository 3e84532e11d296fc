// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PaymentValues
import Testing

@testable import Transactions

struct AdmissionTests {
    private let table = LaneTable([lane("a", 1), lane("b", 2, isVirtual: true)])

    private func code(_ request: TransactionRequest, _ facts: AdmissionFacts) -> ErrorCode? {
        if case .failure(let refusal) = table.admit(request, facts) {
            ErrorCode(rawValue: refusal.error.code)
        } else {
            nil
        }
    }

    @Test func `a daemon that stops admits nothing`() {
        var facts = AdmissionFacts(mode: .test)
        facts.isStopping = true
        for type in TransactionType.allCases { #expect(code(request(type), facts) == .daemonUnavailable) }
    }

    @Test func `an order in doubt keeps payments away and nothing else`() {
        var facts = AdmissionFacts(mode: .test)
        let other = TransactionID()
        facts.unresolved = other
        for type in TransactionType.allCases {
            guard case .failure(let refusal) = table.admit(request(type), facts) else {
                #expect(type == .loyalty)
                continue
            }
            #expect(refusal.error.code == ErrorCode.orderUnresolved.rawValue)
            #expect(refusal.error.transaction == other)
        }
    }

    @Test func `terms and profile refuse payments, not passes`() {
        var facts = AdmissionFacts(mode: .test)
        facts.paymentRefusal = ErrorBody(.termsNotAccepted)
        #expect(code(request(.purchase), facts) == .termsNotAccepted)
        #expect(code(request(.loyalty), facts) == nil)
        facts.passesRefusal = ErrorBody(.laneUnknown)
        #expect(code(request(.loyalty), facts) == .laneUnknown)
    }

    @Test func `no live payment on a reader in software`() {
        let live = AdmissionFacts(mode: .live)
        #expect(code(request(lane: "b"), live) == .liveVirtualReader)
        #expect(code(request(lanes: ["a", "b"]), live) == .liveVirtualReader)
        #expect(code(request(.loyalty, lane: "b"), live) == nil)
        #expect(code(request(lane: "a"), live) == nil)
        #expect(code(request(lane: "b"), AdmissionFacts(mode: .test)) == nil)
    }

    @Test func `what names no lane gets one that is free`() throws {
        var table = table
        #expect(try table.admit(request(), AdmissionFacts(mode: .test)).get() == ["a"])
        table.take(["a"], for: holder(TransactionID()))
        #expect(try table.admit(request(), AdmissionFacts(mode: .test)).get() == ["b"])
        #expect(code(request(lane: "nowhere"), AdmissionFacts(mode: .test)) == .laneUnknown)
        #expect(code(request(lanes: ["a", "nowhere"]), AdmissionFacts(mode: .test)) == .laneUnknown)
    }
}
