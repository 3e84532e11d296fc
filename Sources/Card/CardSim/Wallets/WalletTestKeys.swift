// SPDX-License-Identifier: Apache-2.0
/// Keys of the wallets in software. Made for tests (SHA-256 of fixed texts) and published here: they protect nothing.
public enum WalletTestKeys {
    /// Two pass types of a merchant that does not exist, each with its private key, 32 bytes.
    public static let clubPassType = "pass.example.nfc-tap.club"
    public static let clubPrivateKey: [UInt8] = .hex("e41c3315737021d66f3dcc563998b7d58732c4443e8e33b60f304b46da26dadc")
    public static let giftPassType = "pass.example.nfc-tap.gift"
    public static let giftPrivateKey: [UInt8] = .hex("7fb3a90710e45696b2f7e7196181c8bc07b955b159b06e24b1037fdfe05756bc")

    /// A collector that does not exist, with the two versions of its private key, 32 bytes each.
    public static let collectorID: UInt32 = 20_260_101
    /// Withdrawn: phones answer 9500 to it.
    public static let collectorPrivateKeyVersion1: [UInt8] = .hex(
        "cd173f3c5337c26d8b165bb971c0efb11684403e4152ac3b4e635c0328622c5f")
    public static let collectorPrivateKeyVersion2: [UInt8] = .hex(
        "d6995e50b6d66fa9dcd5c56ccf53936421374cb183e77e6d7057c93a12047616")
}
