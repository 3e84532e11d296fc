// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Payments of tills that are in doubt, or that nobody wants any more.
@Suite("Tills in doubt", .timeLimit(.minutes(5)))
struct TillDoubtTests {
    private typealias Booking = TillShop.Booking

    private static let impatient = "[psp]\nanswer-timeout = 1\nconnect-timeout = 1\n"

    @Test("A payment whose answer breaks off or cannot be read is asked about, and the till hears once that it is paid")
    func brokenOff() throws {
        let tills = try TillShop()
        #expect(try tills.caisse("12.95").first?["payment_status"] as? String == "success")
        let answers = try tills.zvt("register -- sale 1296")
        #expect(answers.last?["outcome"] as? String == "completed", "\(answers)")
        let paid = try tills.proxy(order: "Order 1", payment: "1", "12.95")
        #expect(paid["result"] as? Bool == true, "\(paid)")
        #expect(try tills.books("caisse-ap") == [Booking("approved", 1_295, isConfirmed: true)])
        #expect(try tills.books("zvt") == [Booking("approved", 1_296, isConfirmed: true)])
        #expect(try tills.books("hw-proxy") == [Booking("approved", 1_295, isConfirmed: true)])
    }

    @Test("A payment that its service never answers comes back, and the till hears that it was not paid")
    func neverAnswered() throws {
        let tills = try TillShop(daemon: Self.impatient)
        let answers = try tills.zvt("register -- sale 1298 -- repeat")
        #expect(answers.map { $0["outcome"] as? String } == ["completed", "aborted", "completed"], "\(answers)")
        #expect(answers.last?["result"] as? Int != 0)
        // The till hears meanwhile that the host is waited for.
        #expect((answers.dropFirst().first?["statuses"] as? [String])?.contains("04") == true, "\(answers)")
        try tills.shop.eventually("taken back") { try tills.books("zvt").first?.state != "reversing" }
        #expect(["reversed", "declined"].contains(try tills.books("zvt").first?.state))
    }

    @Test("A till that aborts, or hangs up, while no card is there has nothing charged")
    func cancelled() throws {
        let tills = try TillShop()
        try tills.clear("zvt")
        let answers = try tills.zvt("register -- abort-during-sale 1250 1")
        #expect(answers.last?["outcome"] as? String == "aborted", "\(answers)")
        #expect(answers.last?["result"] as? Int == 0x6C && answers.last?["abort_answer"] as? String == "8000")
        #expect(try tills.books("zvt") == [Booking("cancelled", 1_250)])
        try tills.clear("caisse-ap")
        let result = try Peer.run(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import socket, sys, time
                till = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                till.sendall(b"CZ0040300CJ012012345678901CA00201CE003978CD0010CB0041250")
                time.sleep(1)
                till.close()
                """, "\(tills.ports["caisse-ap"] ?? 0)",
            ])
        #expect(result.status == 0, "\(result.errors)")
        try tills.shop.eventually("cancelled") {
            try tills.books("caisse-ap") == [Booking("cancelled", 1_250)]
        }
        // The lane is free again.
        try tills.present("visa", on: "caisse-ap")
        #expect(try tills.caisse("3.00").first?["payment_status"] as? String == "success")
    }
}
