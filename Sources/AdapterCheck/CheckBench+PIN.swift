// SPDX-License-Identifier: Apache-2.0
import Wire

/// The rule of PINs. No device is at hand: what can be tried is that nothing passes for a PIN.
extension CheckBench {
    /// The card was promised a PIN: without one, or with one that nobody can open, its issuer was told an untruth.
    func checkPIN() async throws(Complaint) {
        var promised = try sale()
        promised.cvm = .onlinePIN
        try await demandNotApproved(promised, "without a PIN")
        var unreadable = try sale()
        unreadable.cvm = .onlinePIN
        unreadable.pin = OnlinePIN(
            attempt: PINAttemptID(), format: 4, keySet: "adapter-check", algorithm: "AES-128",
            ksn: "00112233445566770000FFFF", block: "00112233445566778899AABBCCDDEEFF",
            device: OnlinePIN.Device(serial: "adapter-check"))
        try await demandNotApproved(unreadable, "with a block under keys that there are not")
    }

    private func demandNotApproved(_ request: AuthorizationRequest, _ how: String) async throws(Complaint) {
        let reply = try await authorize(request)
        guard reply.status < 500, reply.message.map({ $0.outcome == .declined }) ?? (reply.status >= 400) else {
            throw Complaint(
                "a sale that promised a PIN, \(how), was answered with \(reply.status), and not declined")
        }
    }
}
