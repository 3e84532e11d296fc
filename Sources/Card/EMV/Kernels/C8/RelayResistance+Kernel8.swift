// SPDX-License-Identifier: Apache-2.0
import CardBytes

extension RelayResistance {
    /// The limits of kernel 8: 9F8213…9F8218, with the meanings that DF8132…DF8137 have in kernel 2.
    static let kernel8Limits: [Tag] = [
        .c8MinimumGracePeriod, .c8MaximumGracePeriod, .c8ExpectedCommandTime, .c8ExpectedResponseTime,
        .c8AccuracyThreshold, .c8MismatchThreshold,
    ]

    /// Relay Resistance Time Excess (9F810C): by how much the measured time exceeds the card's own maximum, two bytes.
    var timeExcess: [UInt8] {
        guard answer.count == 10 else { return [0, 0] }
        let excess = max(0, measured - (Int(answer[6]) << 8 | Int(answer[7])))
        return [UInt8(truncatingIfNeeded: excess >> 8), UInt8(truncatingIfNeeded: excess)]
    }
}
