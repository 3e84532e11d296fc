// SPDX-License-Identifier: Apache-2.0

/// A search for bytes that whoever searches does not have in memory: it has them under a mask.
public enum Masked {
    /// - Returns: how many places of `bytes` give `masked` under `mask`, in either order of the bytes.
    public static func count(_ masked: [UInt8], _ mask: [UInt8], in bytes: [UInt8]) -> Int {
        let length = masked.count
        guard length > 0, mask.count == length, bytes.count >= length else { return 0 }
        return (0...(bytes.count - length)).count { start in
            let isForward = (0..<length).allSatisfy { bytes[start + $0] ^ mask[$0] == masked[$0] }
            return isForward || (0..<length).allSatisfy { bytes[start + length - 1 - $0] ^ mask[$0] == masked[$0] }
        }
    }
}
