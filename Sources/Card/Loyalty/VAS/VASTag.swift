// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Tags of Apple VAS. Several have another meaning in EMV (9F21 is the transaction time there, 9F26 the cryptogram):
/// never look them up in EMV's dictionary.
public enum VASTag {
    public static let fciTemplate: Tag = 0x6F
    public static let walletLabel: Tag = 0x50
    /// Version of the phone's application, 2 bytes; 0100 is the only one known.
    public static let mobileVersion: Tag = 0x9F21
    /// Version the terminal speaks, 2 bytes, always 0100.
    public static let terminalVersion: Tag = 0x9F22
    /// 4 bytes, of which the last holds flags.
    public static let mobileCapabilities: Tag = 0x9F23
    /// 4 bytes, random in each SELECT. No use is known.
    public static let deviceNonce: Tag = 0x9F24
    /// SHA-256 of the pass type identifier, 32 bytes.
    public static let merchantID: Tag = 0x9F25
    /// 4 bytes: terminal type and mode.
    public static let terminalCapabilities: Tag = 0x9F26
    /// The sealed pass.
    public static let passData: Tag = 0x9F27
    /// 4 bytes of any value.
    public static let terminalNonce: Tag = 0x9F28
    /// Where a customer without the pass can get it.
    public static let merchantURL: Tag = 0x9F29
    /// Normally empty.
    public static let mobileToken: Tag = 0x9F2A
    /// 5 bytes. Its use is unverified; 0100000000 is the only value known to work.
    public static let filter: Tag = 0x9F2B
    /// What GET VAS DATA answers with.
    public static let responseTemplate: Tag = 0x70
}
