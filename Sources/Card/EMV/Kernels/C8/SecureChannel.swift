// SPDX-License-Identifier: Apache-2.0
/// The secure channel between kernel 8 and a card: session keys, message counters and what is built of them
/// (EMV Contactless Book E §3.2, §7 and §8.6).
///
/// The card's counter starts at 8000, the kernel's at 0; every message takes the next number of its sender.
struct SecureChannel: Sendable {
    private let keys: SecureChannelKeys
    private var cardCounter: UInt16 = 0x8000
    private var kernelCounter: UInt16 = 0x0000
    /// x-coordinate of the blinded card key.
    let blindedKey: [UInt8]
    /// The number that blinds the card key, decrypted.
    private(set) var blindingFactor: [UInt8] = []

    /// - Parameters:
    ///   - cardKeyData: 9F8103: blinded key and encrypted blinding factor, 32 bytes each; `nil` for another length.
    init?(_ cryptography: SecureChannelCryptography, privateKey: [UInt8], cardKeyData: [UInt8]) {
        guard cardKeyData.count == 64 else { return nil }
        blindedKey = Array(cardKeyData.prefix(32))
        guard let keys = cryptography.sessionKeys(privateKey, blindedKey) else { return nil }
        self.keys = keys
        guard let factor = decrypt(Array(cardKeyData.suffix(32))) else { return nil }
        blindingFactor = factor
    }

    /// A message of the card; `nil` where its counter is used up.
    mutating func decrypt(_ data: [UInt8]) -> [UInt8]? {
        guard let counter = nextCardCounter() else { return nil }
        return keys.apply(counter, data)
    }

    /// The object in an answer to READ DATA: encrypted object, then eight bytes of MAC over counter and encrypted
    /// object. `nil` where the MAC is wrong.
    mutating func open(_ answer: [UInt8]) -> [UInt8]? {
        guard answer.count > 8, let counter = nextCardCounter() else { return nil }
        let encrypted = Array(answer.dropLast(8))
        guard SecureChannel.isEqual(mac(counter, encrypted), answer.suffix(8)) else { return nil }
        return keys.apply(counter, encrypted)
    }

    /// An object for WRITE DATA; `nil` where the kernel's counter is used up.
    mutating func seal(_ object: [UInt8]) -> [UInt8]? {
        // From 8000 on the numbers are the card's: a stream must not be used twice.
        guard kernelCounter < 0x8000 else { return nil }
        defer { kernelCounter += 1 }
        return keys.apply(kernelCounter, object)
    }

    /// Whether the answer to WRITE DATA is the card's MAC over the object in the clear.
    mutating func accepts(_ answer: [UInt8], for object: [UInt8]) -> Bool {
        guard let counter = nextCardCounter() else { return false }
        return SecureChannel.isEqual(mac(counter, object), answer[...])
    }

    /// IAD-MAC: eight bytes over all that the two sides said (Book E §3.2).
    func iadMAC(_ input: [UInt8]) -> [UInt8] { Array(keys.macPlus([0, 0] + input).prefix(8)) }

    /// EDA-MAC: eight bytes that bind the cryptogram to the IAD-MAC.
    func edaMAC(cryptogram: [UInt8], iadMAC: [UInt8]) -> [UInt8] {
        Array(keys.mac([0, 0] + cryptogram + iadMAC).prefix(8))
    }

    /// Compares two MACs of eight bytes in a time that does not depend on them.
    static func isEqual(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == 8, right.count == 8 else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func mac(_ counter: UInt16, _ data: [UInt8]) -> [UInt8] {
        let number = [UInt8(truncatingIfNeeded: counter >> 8), UInt8(truncatingIfNeeded: counter)]
        return Array(keys.mac(number + data).prefix(8))
    }

    private mutating func nextCardCounter() -> UInt16? {
        guard cardCounter < .max else { return nil }
        defer { cardCounter += 1 }
        return cardCounter
    }
}
