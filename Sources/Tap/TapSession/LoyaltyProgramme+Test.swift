// SPDX-License-Identifier: Apache-2.0
internal import CardBytes
public import Loyalty

extension LoyaltyProgramme {
    /// Keys of wallets in software, which protect nothing.
    public struct TestKeys: Sendable {
        public var clubPassType: String
        /// 32 bytes, as the others.
        public var clubKey: [UInt8]
        public var giftPassType: String
        public var giftKey: [UInt8]
        public var collector: UInt32
        public var collectorKey: [UInt8]
        public var collectorKeyVersion: UInt32

        public init(
            clubPassType: String, clubKey: [UInt8], giftPassType: String, giftKey: [UInt8], collector: UInt32,
            collectorKey: [UInt8], collectorKeyVersion: UInt32
        ) {
            self.clubPassType = clubPassType
            self.clubKey = clubKey
            self.giftPassType = giftPassType
            self.giftKey = giftKey
            self.collector = collector
            self.collectorKey = collectorKey
            self.collectorKeyVersion = collectorKeyVersion
        }
    }

    /// The programmes of a shop that does not exist: `club` on phones and tags, `voucher` on iPhones, `member` by the
    /// identifier of a card. Empty where the keys are none.
    public static func test(_ keys: TestKeys) -> [LoyaltyProgramme] {
        do {
            let club = try VASMerchant(
                passTypeIdentifier: keys.clubPassType, wish: .passOrSignUp(url: "https://loyalty.example/join"),
                keys: [VASKey(try P256PrivateKey(SecretBytes(keys.clubKey)))])
            let gift = try VASMerchant(
                passTypeIdentifier: keys.giftPassType, keys: [VASKey(try P256PrivateKey(SecretBytes(keys.giftKey)))])
            let collector = try SmartTapCollector(
                id: keys.collector,
                keys: [
                    SmartTapKey(
                        version: keys.collectorKeyVersion,
                        privateKey: try P256PrivateKey(SecretBytes(keys.collectorKey)))
                ])
            return [
                try LoyaltyProgramme(
                    id: "club", displayName: "Test Club", apple: club, google: collector,
                    tag: .uri(prefix: "https://loyalty.example/m/")),
                try LoyaltyProgramme(id: "voucher", displayName: "Test Voucher", priority: 1, apple: gift),
                try LoyaltyProgramme(id: "member", displayName: "Test Member", priority: 2, uid: UIDMembership()),
            ]
        } catch {
            return []
        }
    }
}
