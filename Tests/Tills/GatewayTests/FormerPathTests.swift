// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
import POSAPI
import PaymentValues
import Testing

@testable import Gateway

@Suite("Paths of before")
struct FormerPathTests {
    @Test func `a former path is answered with the one to use`() {
        do throws(RequestGuard.Refusal) {
            _ = try TillCall(DoorTests.head(.post, "v1/day-ends"))
            Issue.record("not refused")
        } catch {
            #expect(error.code == .requestUnknownPath && error.field == "/v1/day-ends, which is now /v1/days")
        }
    }

    @Test func `what was never a path is answered without one`() {
        #expect(FormerPath.remedy("days") == nil && FormerPath.remedy("desks") == nil && FormerPath.remedy(nil) == nil)
    }
}
