// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A till's ledger as nfc-tap-ecr wrote it before it kept old payments by their answers: a line for each payment, with the names that
/// Odoo gives to sales where the protocol has any.
enum BenchLedger {
    static func write(_ path: String, kind: String, lane: String, payments: Int) throws {
        var text = line(#"{"installation":"bench"}"#)
        for number in 1...max(1, payments) {
            let order = "ORDER\(100_000_000_000 + number)"
            let payment = "0b9e4c1a-5d2f-4f0e-9c3b-\(String(format: "%012d", number))"
            let identity = kind == "hw-proxy" ? #","identity":"\#(order.utf8.count):\#(order)36:\#(payment)0:""# : ""
            text += line(
                """
                {"attempt":{"key":"ecr-\(lane)-bench-\(number)","number":\(number),"order":{"kind":"sale",\
                "amount":1200,"currency":"EUR"\(identity)},"peer":"127.0.0.1","phase":"confirmed","approval":\
                {"amount":1200,"maskedCard":"************0010","authorisation":"123456","aid":"A0000000031010",\
                "network":"Visa","reference":"\(number)","time":{"month":11,"day":24,"hour":12,"minute":0,"second":0},\
                "receipts":[]}}}
                """)
        }
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// FNV-1a of 64 bits in 16 digits stands before each.
    private static func line(_ json: String) -> String {
        let sum = json.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(format: "%016lx", sum) + " " + json + "\n"
    }
}
