import EMV

/// Entry Point and whole transactions in this process, the card's answers being recorded ones.
enum TransactionBenchmarks {
    static func run() throws {
        Table.section("Transactions in process (the card's own time left out, RSA included)")
        let online = try RecordedTap.visaOnline()
        let offline = try RecordedTap.visaOffline()
        let combined = try RecordedTap.mastercard()
        for tap in [online, offline, combined] where tap.run() == 0 || tap.runEntryPoint() != 0xA8 {
            throw BenchmarkError.wrongResult("a recorded transaction does not repeat")
        }
        let readings = Stopwatch.readings(of: [
            Subject("entry point") { online.runEntryPoint() },
            Subject("visa online") { online.run() },
            Subject("visa offline") { offline.run() },
            Subject("mastercard") { combined.run() },
        ])
        Table.row(
            "Entry Point, from start to the kernel's first command", readings[0], target: 20_000,
            peer: "LibPAY ≈ 80 µs an activation")
        Table.row(
            "Visa online, \(online.commands.count) commands", readings[1], target: 13_000,
            peer: "C++ emv 12.9–18.6 µs (3 commands)")
        Table.row(
            "Visa offline with fDDA, \(offline.commands.count) commands", readings[2], target: 80_000,
            peer: "C++ emv 43.8–83 µs (6 commands)")
        Table.row(
            "Mastercard online with CDA, \(combined.commands.count) commands", readings[3], target: 60_000,
            peer: "C++ emv 49.9–59 µs (10 commands)")
        let exchanges = Double(online.commands.count)
        Table.row(
            "the same Visa transaction, for one command", readings[1].divided(by: exchanges),
            peer: "emv-utils 0.33–0.36 µs (contact, random numbers stubbed)")
    }
}

extension Reading {
    func divided(by count: Double) -> Reading {
        var part = self
        part.median /= count
        part.minimum /= count
        return part
    }
}
