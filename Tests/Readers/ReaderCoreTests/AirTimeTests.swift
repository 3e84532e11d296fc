// SPDX-License-Identifier: Apache-2.0
import ReaderCore
import Testing

struct AirTimeTests {
    /// A bit is 128 periods of 13.56 MHz, a byte nine bits, a block three bytes more: 23 and 106 bytes here.
    @Test(arguments: [([], 0), ([0], 254), ([20], 1_953), ([20, 80], 9_005)] as [([Int], UInt64)])
    func `bytes take nine bits each at 106 kbit/s`(_ counts: [Int], _ microseconds: UInt64) {
        var air = AirTime()
        for count in counts { air.add(count) }
        #expect(air.microseconds == microseconds)
        let bytes = Double(counts.reduce(0, +) + 3 * counts.count)
        #expect(Double(microseconds) == (bytes * 9 * 128 / 13.56).rounded(.down))
    }
}
