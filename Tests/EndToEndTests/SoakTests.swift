// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A short soak in every test run; `make soak` is the long one.
struct SoakTests {
    @Test("After hundreds of taps the daemon holds what it held after the first, and every tap is in the books")
    func short() throws {
        let soak = try Peer.run(
            "python3",
            [
                Checkout.file("Tests/Checks/Soak/soak.py").path, "virtual",
                Program.daemon.url.deletingLastPathComponent().path, "--taps", "300", "--lanes", "2",
            ])
        #expect(soak.status == 0, "\(soak.said)")
        #expect(soak.output.contains("| taps approved, of | 300, 300 |"), "\(soak.said)")
    }
}
