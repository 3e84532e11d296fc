// SPDX-License-Identifier: Apache-2.0
/// A pass on a Smart Tap phone in software.
public struct SmartTapPass: Sendable {
    /// Record name: `ly`, `gc`, `of` …
    public var kind: String
    /// 8 bytes.
    public var objectID: [UInt8]
    public var number: String
    public var pin: String?
    /// Of the number's text record; may be empty.
    public var language: String

    public init(
        kind: String = "ly", objectID: [UInt8], number: String, pin: String? = nil, language: String = "en"
    ) {
        self.language = language
        self.kind = kind
        self.objectID = objectID
        self.number = number
        self.pin = pin
    }

    /// The `asv` record: issuer and object.
    var record: [UInt8] {
        var values = [
            WalletNDEF.record("oid", [0x04] + objectID),
            WalletNDEF.record(
                "T", format: 1, id: "n",
                [UInt8(truncatingIfNeeded: language.utf8.count)] + Array((language + number).utf8)),
        ]
        if let pin { values.append(WalletNDEF.record("T", format: 1, id: "p", [0x00] + Array(pin.utf8))) }
        return WalletNDEF.record(
            "asv",
            WalletNDEF.message([
                WalletNDEF.record("i", [0x04, 0x01, 0x00, 0xA1, 0xB2, 0xC3]),
                WalletNDEF.record(kind, WalletNDEF.message(values)),
            ]))
    }

    /// The record that every phone adds: who the customer is to this collector.
    static let customer = WalletNDEF.record(
        "asv",
        WalletNDEF.message([
            WalletNDEF.record("i", [0x04, 0x02, 0x71, 0x79, 0x79, 0x71]),
            WalletNDEF.record(
                "cus",
                WalletNDEF.message([
                    WalletNDEF.record("cid", [0x04] + [UInt8](repeating: 0xC1, count: 16)),
                    WalletNDEF.record("T", format: 1, id: "cpl", Array([0x00] + "en".utf8)),
                    WalletNDEF.record("cut", [0x04] + [UInt8](repeating: 0x7A, count: 16)),
                ])),
        ]))
}
