// SPDX-License-Identifier: Apache-2.0
/// Third Party Data (9F6E of kernel 2): country, unique identifier, device type where the identifier's first bit is 0
/// (C-2 A.1.167).
struct ThirdPartyData: Equatable {
    /// Two ASCII characters: "00" for a card, others for phones, watches and the like; `nil` where not told.
    let deviceType: [UInt8]?

    init?(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count >= 5 else { return nil }
        deviceType = bytes[2] & 0x80 == 0 && bytes.count >= 6 ? Array(bytes[4..<6]) : nil
    }

    var isOtherThanCard: Bool { deviceType.map { $0 != [0x30, 0x30] } ?? false }
}
