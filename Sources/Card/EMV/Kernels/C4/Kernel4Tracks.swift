// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// The tracks of a mag-stripe transaction of kernel 4 (K4-8): unpredictable number (4 digits), cryptogram (5) and
/// counter (5) in the discretionary data.
struct Kernel4Tracks: Equatable {
    /// `B` PAN `^` name (21) counter `^` YYMM, service code, number, cryptogram; ASCII, without sentinels.
    let track1: [UInt8]
    /// PAN `D` YYMM, service code, number, cryptogram, counter; filled with F.
    let track2: [UInt8]

    /// - Parameter counter: 9F36.
    /// - Returns: `nil` where 57, 5F20, 9F26 or the digits in 9F37 are no such thing.
    init?(_ store: DataStore, counter: UInt16) {
        guard let track = store.value(.track2Equivalent).flatMap({ Track2Equivalent($0) }),
            let service = track.serviceCode,
            let name = store.value(.cardholderName), let number = store.number(.unpredictableNumber, count: 4),
            let cryptogram = store.number(.applicationCryptogram, count: 8)
        else { return nil }
        let unpredictable = [12, 8, 4, 0].map { UInt8(truncatingIfNeeded: number >> $0) & 0x0F }
        guard unpredictable.allSatisfy({ $0 < 10 }) else { return nil }
        let code = Kernel4Tracks.digits(cryptogram & 0xFF_FFFF)
        let count = Kernel4Tracks.digits(UInt64(counter))
        let middle = track.expiry + service + unpredictable + code
        let padded = name.prefix(21) + [UInt8](repeating: 0x20, count: max(0, 21 - name.count))
        track1 =
            [0x42] + Kernel4Tracks.text(track.pan) + [0x5E] + padded + Kernel4Tracks.text(count) + [0x5E]
            + Kernel4Tracks.text(middle)
        var nibbles = track.pan + [0x0D] + middle + count
        if !nibbles.count.isMultiple(of: 2) { nibbles.append(0x0F) }
        track2 = stride(from: 0, to: nibbles.count, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] }
    }

    /// The last five decimal digits.
    private static func digits(_ number: UInt64) -> [UInt8] {
        [10_000, 1_000, 100, 10, 1].map { UInt8(number / $0 % 10) }
    }

    private static func text(_ digits: [UInt8]) -> [UInt8] { digits.map { $0 + 0x30 } }
}
