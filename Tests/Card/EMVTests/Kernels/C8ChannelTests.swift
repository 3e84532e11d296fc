// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Message counters and MACs of the secure channel, with cryptography that shows its inputs.
@Suite struct C8ChannelTests {
    /// "Encryption" puts the counter before the data; a MAC is the first 16 bytes of its input.
    private static let showing = SecureChannelCryptography(
        publicKey: { $0 + $0 },
        sessionKeys: { _, _ in
            SecureChannelKeys(
                apply: { counter, data in
                    [UInt8(truncatingIfNeeded: counter >> 8), UInt8(truncatingIfNeeded: counter)] + data
                },
                mac: { Array(($0 + [UInt8](repeating: 0, count: 16)).prefix(16)) },
                macPlus: { Array($0.reversed().prefix(16)) })
        }, hash: { $0 }, authenticate: { _ in nil })

    private func channel() throws -> SecureChannel {
        try #require(SecureChannel(Self.showing, privateKey: [], cardKeyData: [UInt8](repeating: 7, count: 64)))
    }

    @Test func `the blinding factor is the card's first message`() throws {
        let channel = try channel()
        #expect(channel.blindedKey == [UInt8](repeating: 7, count: 32))
        #expect(channel.blindingFactor == [0x80, 0x00] + [UInt8](repeating: 7, count: 32))
        #expect(SecureChannel(Self.showing, privateKey: [], cardKeyData: [UInt8](repeating: 7, count: 63)) == nil)
        #expect(SecureChannel(.unavailable, privateKey: [], cardKeyData: [UInt8](repeating: 7, count: 64)) == nil)
    }

    @Test func `each side counts its own messages`() throws {
        var channel = try channel()
        let decrypted = channel.decrypt([1])
        let sealed = [channel.seal([2]), channel.seal([3])]
        let isAccepted = channel.accepts([0x80, 0x02, 3, 0, 0, 0, 0, 0], for: [3])
        let opened = channel.open([9, 0x80, 0x03, 9, 0, 0, 0, 0, 0])
        let repeated = channel.open([9, 0x80, 0x03, 9, 0, 0, 0, 0, 0])
        let short = channel.open([0x80, 0x05, 0, 0, 0, 0, 0, 0])
        let isShortAccepted = channel.accepts([0x80, 0x05, 4], for: [4])
        #expect(decrypted == [0x80, 0x01, 1])
        #expect(sealed == [[0x00, 0x00, 2], [0x00, 0x01, 3]])
        #expect(isAccepted && opened == [0x80, 0x03, 9])
        #expect(repeated == nil && short == nil && !isShortAccepted)
    }

    @Test func `a counter that is used up ends the messages of its side`() throws {
        var channel = try channel()
        let decrypted = (0x8001..<0xFFFF).allSatisfy { _ in channel.decrypt([]) != nil }
        let isOver = channel.decrypt([]) == nil && channel.open([UInt8](repeating: 0, count: 9)) == nil
        let isAccepted = channel.accepts([UInt8](repeating: 0, count: 8), for: [])
        let sealed = (0..<0x8000).allSatisfy { _ in channel.seal([]) != nil }
        let following = channel.seal([])
        #expect(decrypted && isOver && !isAccepted)
        #expect(sealed && following == nil)
    }

    @Test func `both MACs begin with a counter of zero`() throws {
        let channel = try channel()
        #expect(channel.edaMAC(cryptogram: [1, 2, 3, 4], iadMAC: [5, 6, 7, 8]) == [0, 0, 1, 2, 3, 4, 5, 6])
        #expect(channel.iadMAC([1, 2, 3, 4, 5, 6]) == [6, 5, 4, 3, 2, 1, 0, 0])
    }

    @Test func `MACs of another length are never equal`() {
        #expect(!SecureChannel.isEqual([], []))
        #expect(!SecureChannel.isEqual([UInt8](repeating: 0, count: 8), [0, 0, 0, 0, 0, 0, 0][...]))
        #expect(SecureChannel.isEqual(Array(1...8), [1, 2, 3, 4, 5, 6, 7, 8][...]))
        #expect(!SecureChannel.isEqual(Array(1...8), [1, 2, 3, 4, 5, 6, 7, 9][...]))
    }
}
