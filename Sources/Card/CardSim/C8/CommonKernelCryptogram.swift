// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMVCrypto

/// Application cryptogram with AES: master key by option C, session key from the counter, CMAC over the data of CDOL1,
/// AIP, counter and issuer application data (EMV Contactless Book E §4.1 and §4.2). The layout of the issuer application
/// data is this project's own.
enum CommonKernelCryptogram {
    /// Second byte of the issuer application data: cryptogram version.
    static let version: UInt8 = 0xC8
    /// Where the IAD-MAC goes into the 32 bytes of issuer application data.
    static let macOffset = 24

    private static let input: [(tag: Tag, count: Int)] = [
        (0x9F02, 6), (0x9F03, 6), (0x9F1A, 2), (0x95, 5), (0x5F2A, 2), (0x9A, 3), (0x9C, 1), (0x9F37, 4), (0x82, 2),
        (0x9F36, 2), (0x9F10, 32),
    ]

    /// The eight bytes of the cryptogram.
    ///
    /// - Parameters:
    ///   - pan: digits 0…9.
    ///   - value: the value of a tag, `nil` where it is not known; 9F03 may be absent.
    static func cryptogram(
        pan: [UInt8], sequence: UInt8, _ value: (Tag) -> [UInt8]?
    ) throws(MissingObject) -> [UInt8] {
        var data: [UInt8] = []
        for (tag, count) in input {
            let bytes = value(tag) ?? (tag == 0x9F03 ? [UInt8](repeating: 0, count: count) : [])
            guard bytes.count == count else { throw MissingObject(tag: tag) }
            data += bytes
        }
        guard let key = sessionKey(pan: pan, sequence: sequence, counter: value(0x9F36) ?? []) else {
            throw MissingObject(tag: 0x5A)
        }
        return Array(key.mac(data).prefix(8))
    }

    private static func sessionKey(pan: [UInt8], sequence: UInt8, counter: [UInt8]) -> AES128? {
        guard let issuer = AES128(key: ECCTestKeys.issuerMasterKey),
            let number = BCD.pack(pan, count: (pan.count + 1) / 2)
        else { return nil }
        let name = number + [sequence]
        let diversifier = [UInt8](repeating: 0, count: max(0, 16 - name.count)) + name
        guard let master = AES128(key: issuer.encrypt(AES128.Block(diversifier)).bytes) else { return nil }
        return AES128(key: master.encrypt(AES128.Block(counter)).bytes)
    }
}

extension TestIssuer {
    /// The verdict on a cryptogram of the kernel 8 test card; `nil` for another issuer's card.
    static func verifyCommonKernel(pan: [UInt8], _ values: [Tag: [UInt8]]) -> ARQCVerdict? {
        guard pan.starts(with: ECCTestKeys.issuerIdentifier) else { return nil }
        guard let data = values[0x9F10], data.count == 32, data[1] == CommonKernelCryptogram.version else {
            return .unknownCard
        }
        do throws(MissingObject) {
            let expected = try CommonKernelCryptogram.cryptogram(
                pan: pan, sequence: values[0x5F34]?.first ?? 0
            ) { values[$0] }
            return expected == values[0x9F26] ? .verified : .wrongCryptogram
        } catch {
            return .missing(error.tag)
        }
    }
}
