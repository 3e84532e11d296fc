// SPDX-License-Identifier: Apache-2.0
import EMV

/// Entry Point and whole transactions in this process, the card's answers being recorded ones.
enum TransactionBenchmarks {
    private static let visa: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03]
    private static let mastercard: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x04]

    static func run() throws {
        Table.section("Transactions in process (the card's own time left out)")
        let library = try LibCrypto()
        let online = try RecordedTap.visaOnline()
        let offline = try RecordedTap.visaOffline()
        let combined = try RecordedTap.mastercard()
        for tap in [online, offline, combined] where tap.run() == 0 || tap.runEntryPoint() != 0xA8 {
            throw BenchmarkError.wrongResult("a recorded transaction does not repeat")
        }
        let readings = Stopwatch.readings(of: [
            Yardstick.reading(online),
            Subject("entry point") { online.runEntryPoint() },
            Subject("visa online") { online.run() },
            try Yardstick.readingAndVerifying(offline, rid: visa, library),
            Subject("visa offline") { offline.run() },
            try Yardstick.readingAndVerifying(combined, rid: mastercard, library),
            Subject("mastercard") { combined.run() },
        ])
        Table.yardstick("C walk of a Visa card's \(online.commands.count) answers", readings[0])
        Table.row("Entry Point, from start to the kernel's first command", readings[1], beside: readings[0])
        Table.row("Visa online, \(online.commands.count) commands", readings[2], beside: readings[0], target: 120)
        Table.yardstick("C walk of \(offline.commands.count) answers, OpenSSL for three signatures", readings[3])
        Table.row("Visa offline with fDDA", readings[4], beside: readings[3], target: 1.25)
        Table.yardstick("C walk of \(combined.commands.count) answers, OpenSSL for three signatures", readings[5])
        Table.row("Mastercard online with CDA", readings[6], beside: readings[5], target: 1.5)
    }
}
