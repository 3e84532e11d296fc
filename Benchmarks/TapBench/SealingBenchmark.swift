// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope

/// The envelope around one read.
enum SealingBenchmark {
    static func run() throws {
        Table.section("Envelope (compact JWE, A256GCM)")
        let record = SecretBytes([UInt8](repeating: 0x61, count: 700))
        guard try JWE.seal(record, to: .sandboxTest).split(separator: ".", omittingEmptySubsequences: false).count == 5
        else { throw BenchmarkError.wrongResult("the envelope") }
        let readings = Stopwatch.readings(of: [
            try KeyBenchmarks.yardstick(LibCrypto()),
            Subject("seal") { (try? JWE.seal(record, to: .sandboxTest))?.utf8.count ?? 0 },
        ])
        Table.yardstick("OpenSSL, RSA public operation, 1984 bits, e = 65537", readings[0])
        Table.row("seal 700 bytes, ECDH-ES on P-256, a fresh key each", readings[1], beside: readings[0])
    }
}
