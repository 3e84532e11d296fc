// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Tags in the answer of OSE.VAS.01 on Google's side. C0 to C3 are not EMV's.
public enum SmartTapTag {
    /// 2 bytes.
    public static let applicationVersion: Tag = 0xC0
    /// 8 bytes; the first says what the phone can and wants to do.
    public static let transactionDetails: Tag = 0xC1
    /// 32 bytes.
    public static let deviceNonce: Tag = 0xC2
    /// Compressed point, 33 bytes.
    public static let deviceEphemeralKey: Tag = 0xC3
    public static let applicationTemplate: Tag = 0x61
    public static let applicationName: Tag = 0x4F
    public static let priority: Tag = 0x87
    public static let discretionaryTemplate: Tag = 0x73
    /// 2 bytes.
    public static let minimumVersion: Tag = 0xDF6D
    /// 2 bytes.
    public static let maximumVersion: Tag = 0xDF4D
    /// 1 byte.
    public static let capabilities: Tag = 0xDF62
    /// 32 bytes; takes precedence over C2.
    public static let directoryNonce: Tag = 0xDF6E
    /// 33 bytes.
    public static let directoryEphemeralKey: Tag = 0xDF6B
}
