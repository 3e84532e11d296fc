// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// One version of a collector's long-term key, by which a terminal proves that it may read the collector's passes.
public struct SmartTapKey: Sendable {
    /// As registered with the wallet's owner.
    public let version: UInt32
    /// ECDSA P-256 with SHA-256 over the bytes given, in DER; `nil` where it cannot be made. A closure, so that the
    /// key may sit in a device of its own.
    public let sign: @Sendable ([UInt8]) -> [UInt8]?

    public init(version: UInt32, privateKey: P256PrivateKey) {
        self.version = version
        sign = { privateKey.signature(over: $0) }
    }

    public init(version: UInt32, sign: @escaping @Sendable ([UInt8]) -> [UInt8]?) {
        self.version = version
        self.sign = sign
    }
}

/// A collector: who reads passes with Smart Tap, and which.
public struct SmartTapCollector: Sendable {
    /// 4 bytes, big-endian.
    public let id: [UInt8]
    /// The highest version comes first: it is the one that is used. The wallet takes one key per session and says
    /// 9500 to a wrong one, which must not be retried.
    public let keys: [SmartTapKey]
    public var merchant: SmartTapMerchant
    public var services: [SmartTapService]
    /// Take a pass that the phone sends in the clear. Then nothing proves that it came from a wallet.
    public var acceptsUnencrypted: Bool

    /// - Parameter id: the collector id as a number.
    /// - Throws: `.collectorKeyMissing`, `.keyVersionRepeated`.
    public init(
        id: UInt32, keys: [SmartTapKey], merchant: SmartTapMerchant = SmartTapMerchant(),
        services: [SmartTapService] = [.loyalty], acceptsUnencrypted: Bool = false
    ) throws(LoyaltyConfigurationError) {
        guard !keys.isEmpty else { throw .collectorKeyMissing }
        let sorted = keys.sorted { $0.version > $1.version }
        for (key, next) in zip(sorted, sorted.dropFirst()) where key.version == next.version {
            throw .keyVersionRepeated(key.version)
        }
        self.id = SmartTapCollector.bytes(id)
        self.keys = sorted
        self.merchant = merchant
        self.services = services
        self.acceptsUnencrypted = acceptsUnencrypted
    }

    static func bytes(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> ($0 as UInt32)) }
    }
}

/// Optional facts about the shop in a request. How location, terminal and category are coded is an assumption: no
/// published sample shows them.
public struct SmartTapMerchant: Equatable, Sendable {
    /// ASCII.
    public var locationID: String?
    /// ASCII.
    public var terminalID: String?
    /// UTF-8, in English.
    public var name: String?
    /// ISO 18245 merchant category, 4 digits, packed into 2 bytes.
    public var categoryCode: [UInt8]?

    public init(
        locationID: String? = nil, terminalID: String? = nil, name: String? = nil, categoryCode: [UInt8]? = nil
    ) {
        self.locationID = locationID
        self.terminalID = terminalID
        self.name = name
        self.categoryCode = categoryCode
    }
}

/// Which kinds of pass are asked for (`str` records).
public enum SmartTapService: UInt8, Sendable, CaseIterable {
    case all = 0x00
    case allButPayment = 0x01
    case payment = 0x02
    case loyalty = 0x03
    case offer = 0x04
    case giftCard = 0x05
    case privateLabel = 0x06
    case eventTicket = 0x07
    case flight = 0x08
    case transit = 0x09
    case cloudWallet = 0x10
    case mobileMarketing = 0x11
    case generic = 0x12
    case genericPrivate = 0x13
    case walletCustomer = 0x40
}
