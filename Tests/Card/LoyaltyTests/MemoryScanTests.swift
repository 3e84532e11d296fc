// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Glibc
import Loyalty
import Testing

/// Looks for bytes in this process's own writable memory. What it looks for, and what it reads into, lie in two
/// buffers of their own that do not count.
@safe private struct MemoryScan: ~Copyable {
    private static let chunkLength = 1 << 20

    private let needle: UnsafeMutableRawPointer
    private let chunk: UnsafeMutableRawPointer
    private let length: Int

    /// `masked`: the bytes sought, each XORed with A5, so that the test's own constants are no find.
    init(masked: [UInt8]) {
        length = masked.count
        unsafe needle = .allocate(byteCount: masked.count, alignment: 16)
        unsafe chunk = .allocate(byteCount: MemoryScan.chunkLength, alignment: 4_096)
        for index in masked.indices {
            unsafe needle.storeBytes(of: masked[index] ^ 0xA5, toByteOffset: index, as: UInt8.self)
        }
    }

    /// Number of places where the bytes stand.
    func count() throws -> Int {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        try #require(memory >= 0 && !maps.isEmpty)
        var found = 0
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2)
            let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard bounds.count == 2, fields[1].hasPrefix("rw") else { continue }
            var address = bounds[0]
            while address < bounds[1] {
                let wanted = min(Int(bounds[1] - address), MemoryScan.chunkLength)
                let got = unsafe pread(memory, chunk, wanted, Int(bitPattern: address))
                guard got >= length else { break }
                found += matches(among: got, at: address)
                // The end is read again with what follows, so that no place is cut in two.
                address += UInt(got - length + 1)
            }
        }
        unsafe explicit_bzero(chunk, MemoryScan.chunkLength)
        return found
    }

    /// In the first `count` bytes of the chunk, which came from `address`.
    private func matches(among count: Int, at address: UInt) -> Int {
        var found = 0
        var offset = 0
        let first = unsafe Int32(needle.load(as: UInt8.self))
        while offset <= count - length, let hit = unsafe memchr(chunk + offset, first, count - length + 1 - offset) {
            offset = unsafe hit - chunk
            if unsafe memcmp(hit, needle, length) == 0, !isOwn(address + UInt(offset)) { found += 1 }
            offset += 1
        }
        return found
    }

    private func isOwn(_ address: UInt) -> Bool {
        let chunkStart = unsafe UInt(bitPattern: chunk)
        let needleStart = unsafe UInt(bitPattern: needle)
        return address == needleStart
            || (chunkStart..<chunkStart + UInt(MemoryScan.chunkLength)).contains(address)
    }

    deinit {
        unsafe explicit_bzero(needle, length)
        unsafe needle.deallocate()
        unsafe chunk.deallocate()
    }
}

/// The values were made for these tests and stand nowhere else in the clear. One test at a time: a scan reads what the other
/// test still holds into its own buffer.
@Suite(.serialized) struct `What is left in memory` {
    private static let maskedScalar = "44EFD166CE4A554B3A6068520602E82717A6A0B1CB15F555EF25FFAEA52F3416"
    private static let maskedMessage = "D6C6C4CB88C19DC090959C9C9D9CC6C6C7C1C19590C3C0919C97959493"
    private static let cryptogram = """
        5DC6AB459E2F8EA84FD241E3A84C6D4EFDCB2A5B05C5CEF1D11F1C071B5B0B69A1C1D2BDC3D2F1E1D171602B44F08F09628A71C0EB16B5
        60DB0F63A5389AAEA6181582556732E7ECDD33673CED4CC451F74DF18B48
        """
    private static let maskedKeys = """
        20E800F26564D6BF83FEE6A0AE17A234F78EEEDB70E26D148DF5E1DD8716F4E539197C9ACB5616DE5BCCEFDAAF603BB2
        """
    private static let maskedNumber = "C7D0CBC1C9C0889C97C1C7C7969C959DC7C19191C39695919192939C9695C1"
    private static let bundle = """
        036FF71D15A0694B29188853330A0A0DDD3B8E58CA45FC0D1093F54E49D426FB953814133366706D055F29563DA3181EA8FA97A0E8A1F0
        5BF7ECCF82BA9FB5DEC3B5E5A9E109A1C8F5EE02ED7328E964C019E8C22035C9B95A74D68A7513C93D3AA685E88735F5BB5AA71D1E246A
        C4458C4C905C09CCA5A294572DE4C936796C4E25
        """

    private func unmasked(_ hex: String) throws -> SecretBytes {
        let masked = try Hex.bytes(hex)
        return SecretBytes(capacity: masked.count) { writer in for byte in masked { writer.append(byte ^ 0xA5) } }
    }

    @Test func `neither merchant key nor message stay after an Apple pass was opened`() throws {
        let message = MemoryScan(masked: try Hex.bytes(Self.maskedMessage))
        let scalar = MemoryScan(masked: try Hex.bytes(Self.maskedScalar))
        do {
            let merchant = try VASMerchant(
                passTypeIdentifier: "pass.example.nfc-tap.scan",
                keys: [VASKey(P256PrivateKey(unmasked(Self.maskedScalar)))])
            let sealed = try #require(VASCryptogram(Hex.bytes(Self.cryptogram)))
            let pass = try sealed.open(with: merchant.keys, merchantID: merchant.merchantID).get()
            #expect(try message.count() >= 1, "the scan itself finds what is there")
            #expect(try scalar.count() >= 1, "the scan itself finds what is there")
            #expect(pass.message.count == 29 && merchant.keys.count == 1)
        }
        #expect(try message.count() == 0)
        #expect(try scalar.count() == 0)
    }

    @Test func `neither session keys nor number stay after a Smart Tap bundle was opened`() throws {
        let number = MemoryScan(masked: try Hex.bytes(Self.maskedNumber))
        let keyBytes = MemoryScan(masked: Array(try Hex.bytes(Self.maskedKeys).prefix(16)))
        do {
            let keys = try #require(SmartTapSessionKeys(material: unmasked(Self.maskedKeys)))
            let sealed = try #require(SmartTapBundle(payload: Hex.bytes(Self.bundle)))
            let objects = try #require(SmartTapObjectReader.objects(sealed.open(with: keys).get()))
            #expect(try number.count() >= 1, "the scan itself finds what is there")
            #expect(objects.first?[.number]?.count == 31)
            withExtendedLifetime(keys) {}
        }
        #expect(try number.count() == 0)
        #expect(try keyBytes.count() == 0)
    }
}
