// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import PSPAPI
import PaymentValues

/// The rule of PINs. No device is at hand: what can be tried is that nothing passes for a PIN.
extension CheckBench {
    /// The card was promised a PIN: without one, or with one that nobody can open, its issuer was told an untruth.
    func checkPIN() async throws(Complaint) {
        var promised = try sale()
        promised.cvm = .onlinePIN
        try await demandNotApproved(promised, "without a PIN")
        var unreadable = try sale()
        unreadable.cvm = .onlinePIN
        unreadable.pin = Self.unreadable
        try await demandNotApproved(unreadable, "with a block under keys that there are not")
    }

    private static var unreadable: OnlinePIN {
        OnlinePIN(
            attempt: PINAttemptID(), format: 4, keySet: "adapter-check", algorithm: "AES-128",
            ksn: "00112233445566770000FFFF", block: "00112233445566778899AABBCCDDEEFF",
            device: OnlinePIN.Device(serial: "adapter-check"))
    }

    /// Only what was declined for want of a PIN goes on: anything else would be authorised twice.
    func checkContinuation() async throws(Complaint) {
        let (request, answer) = try await approved()
        try await demandNotContinued(request, "a sale that was approved")
        try await demandSame(answer, try await status(of: request.id), "after a continuation that was not asked for")
        try await demandNotContinued(try sale(), "a sale that never came")
        let reversed = try sale()
        try demandAcknowledged(try await reverse(reversed))
        try await demandNotContinued(reversed, "a sale that was reversed before it came")
    }

    private func demandNotContinued(_ request: AuthorizationRequest, _ what: String) async throws(Complaint) {
        let message = ContinuationRequest(authorization: request, pin: Self.unreadable)
        let reply = try await post(
            "/v1/authorizations/\(request.id)/continuations", Self.encode(message), key: message.id.text,
            as: AuthorizationAnswer.self)
        guard reply.status < 500, reply.message.map({ $0.outcome == .declined }) ?? (reply.status >= 400) else {
            throw Complaint("a continuation of \(what) was answered with \(reply.status), and not declined")
        }
    }

    private func demandNotApproved(_ request: AuthorizationRequest, _ how: String) async throws(Complaint) {
        let reply = try await authorize(request)
        guard reply.status < 500, reply.message.map({ $0.outcome == .declined }) ?? (reply.status >= 400) else {
            throw Complaint(
                "a sale that promised a PIN, \(how), was answered with \(reply.status), and not declined")
        }
    }
}
