// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("What tills may give back", .timeLimit(.minutes(5)))
struct TillRefundTests {
    /// A time zone in which it is noon, so that no day begins during a test.
    private static var noon: String {
        let hour = Int(Date.now.timeIntervalSince1970) / 3_600 % 24
        return hour >= 12 ? "NOON\(hour - 12)" : "NOON-\(12 - hour)"
    }

    @Test(
        "All that a till gives back in a day has a limit, which a bridge that was killed knows, and each till hears of it in its words"
    )
    func day() throws {
        let tills = try TillShop(
            serial: ("caisse-e-plus", "refund-limit = 5000\nrefund-limit-day = 7000"), timeZone: Self.noon)
        #expect(try tills.caisse("-40.00").first?["payment_status"] as? String == "success")
        #expect(try tills.zvt("register -- refund 4000").last?["result"] as? Int == 0)
        #expect(try tills.teliumManager("40.00:credit").first?["result"] as? Int == 0)
        tills.stopBridge(SIGKILL)
        try tills.startBridge()
        // A sale has nothing to do with it, and what is left may still be given back.
        let caisse = try tills.caisse("-40.00", "12.50", "-30.00", "-1.00")
        #expect(
            caisse.map { $0["payment_status"] as? String } == ["failure", "success", "success", "failure"], "\(caisse)")
        let zvt = try tills.zvt("register -- refund 4000 -- sale 1250 -- refund 3000 -- refund 100")
        #expect(zvt.dropFirst().map { $0["result"] as? Int } == [0xC3, 0, 0, 0xC3], "\(zvt)")
        let telium = try tills.teliumManager("40.00:credit", "12.50", "30.00:credit", "1.00:credit")
        #expect(telium.map { $0["result"] as? Int } == [7, 0, 0, 7], "\(telium)")
        // What was refused has never come to the daemon.
        let paid = [4_000, 1_250, 3_000].map { TillShop.Booking("approved", $0, isConfirmed: true) }
        for lane in ["caisse-ap", "zvt", "serial"] { #expect(try tills.books(lane) == paid, "\(lane)") }
    }
}
