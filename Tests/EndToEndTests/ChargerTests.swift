// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A charger over ZVT with the daemon, the bridge and the sandbox as they are installed. The client is of another hand than the
/// terminal, and knows no line of it.
@Suite("Chargers")
struct ChargerTests {
    /// Sessions; each takes about two seconds, and up to four on a busy machine.
    private static let count = ProcessInfo.processInfo.environment["NFC_TAP_CHARGES"].flatMap(Int.init) ?? 100
    private var count: Int { ChargerTests.count }

    @Test(
        "T20: a charger whose line is cut after each packet in turn has one hold a token, and none after its day",
        .timeLimit(.minutes(20 + ChargerTests.count / 10)))
    func sessions() throws {
        let tills = try TillShop(
            zvt: """
                reservations = true
                read-amount = 2500
                device-id = "17FD0001"
                terminal-id = "52500001"
                """)
        let control = tills.shop.folder.appending(path: "zvt.sock").path
        let result = try Peer.run(
            Peer.python,
            [
                TillShop.file("charger.py"), "127.0.0.1:\(tills.ports["zvt"] ?? 0)",
                "\(Program.tap.url.path) virtual --control \(control)", "\(count)",
            ])
        #expect(result.status == 0, "\(result.errors)")
        let all = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any] ?? [:]
        let sessions = all["sessions"] as? [[String: Any]] ?? []
        #expect(sessions.count == count && all["pending"] as? String == "")
        #expect((all["cuts"] as? Int ?? 0) > count / 2, "\(all["cuts"] ?? 0)")
        let held = sessions.filter { $0["receipt"] != nil }
        #expect(Set(held.compactMap { $0["receipt"] as? String }).count == held.count)
        // Now and then a card is taken away before it was read to its end; it never costs a hold.
        #expect(held.count > count * 9 / 10, "\(sessions.filter { $0["receipt"] == nil })")
        #expect(sessions.allSatisfy { ["bank card", nil].contains($0["card"] as? String) })
        #expect(held.allSatisfy { [1_205, nil].contains($0["told"] as? Int) })
        // What is kept of each payment is what its session was told: none stands for a token that was told nothing.
        let list = try confirmed(tills)
        #expect(list.count == held.count, "\(list.count) of \(held.count)")
        let captured = list.compactMap { ($0["account"] as? [String: Any])?["captured"] as? Int }
        #expect(captured.count { $0 == 1_205 } == held.count { $0["told"] != nil })
        #expect(captured.count { $0 == 0 } == held.count { $0["told"] == nil })
        #expect(list.allSatisfy { (($0["account"] as? [String: Any])?["remaining"] as? Int ?? 0) == 0 })
        let states = Set(try tills.books("zvt").filter { !$0.isConfirmed }.map(\.state))
        #expect(states.isSubset(of: ["reversed", "reversing", "cancelled", "failed"]), "\(states)")
    }

    private func confirmed(_ tills: TillShop) throws -> [[String: Any]] {
        var list: [[String: Any]] = []
        var next: String?
        repeat {
            let page = try tills.shop.get(
                "/v1/transactions?lane=zvt&limit=100" + (next.map { "&after=\($0)" } ?? ""))
            list += page["transactions"] as? [[String: Any]] ?? []
            next = page["next"] as? String
        } while next != nil
        return list.filter {
            ($0["confirmation"] as? [String: Any])?["confirmedAt"] != nil && $0["state"] as? String == "approved"
        }
    }
}
