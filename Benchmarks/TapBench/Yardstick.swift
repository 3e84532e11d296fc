// SPDX-License-Identifier: Apache-2.0
import CYardstick
import CardBytes
import EMV
import EMVCrypto

/// What the work would take without us, measured in the same run: a figure beside it holds on any machine.
enum Yardstick {
    /// A plain C walk over BER-TLV.
    ///
    /// - Returns: the same sum as `ByteBenchmarks.walk`; 0 for bytes that are no BER-TLV.
    static func walk(_ bytes: [UInt8]) -> Int {
        var sum: UInt64 = 0
        let objects = unsafe cyardstick_walk(bytes, bytes.count, &sum)
        return objects < 0 ? 0 : Int(truncatingIfNeeded: sum)
    }

    /// The least that a terminal has to do with what a card answers: walk each answer once, in C.
    static func reading(_ tap: RecordedTap) -> Subject {
        let answers = tap.answers.map(\.data)
        return Subject("C walk of the answers") { answers.reduce(0) { $0 &+ walk($1) } }
    }

    /// The same, and OpenSSL's public operation for each of the three signatures. The keys of issuer and card are made for
    /// it, as each card brings its own; the CA's is there before.
    static func readingAndVerifying(_ tap: RecordedTap, rid: [UInt8], _ library: LibCrypto) throws -> Subject {
        guard let index = tap.value(0x8F)?.first, let authority = CAPublicKeys.test.key(rid: rid, index: index),
            let issuer = tap.value(0x9F32), let card = tap.value(0x9F47), let certificate = tap.value(0x90),
            let cardCertificate = tap.value(0x9F46), let signature = tap.value(0x9F4B)
        else { throw BenchmarkError.wrongResult("the test card's certificates") }
        // Numbers of the right length will do: how long it takes does not depend on them.
        let exponent = field(authority.key.exponent)
        let prepared = try library.publicOperation(modulus: modulus(certificate), exponent: exponent)
        let answers = reading(tap)
        return Subject("C walk and OpenSSL") {
            var sum = answers.body() &+ Int(prepared(message(certificate))?.last ?? 0)
            for (signature, exponent) in [(cardCertificate, issuer), (signature, card)] {
                let once = try? library.publicOperation(modulus: modulus(signature), exponent: exponent)
                sum &+= Int(once?(message(signature))?.last ?? 0)
            }
            return sum
        }
    }

    private static func field(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func modulus(_ bytes: [UInt8]) -> [UInt8] {
        var modulus = bytes
        modulus[0] |= 0x80
        modulus[modulus.count - 1] |= 1
        return modulus
    }

    private static func message(_ bytes: [UInt8]) -> [UInt8] { [0] + bytes.dropFirst() }
}
