// SPDX-License-Identifier: Apache-2.0
/// Mobile CVM Results (9F71 of kernel 4, three bytes; K4-5): method 01 or 3F, condition, result. The coding of the
/// result is unverified: 01 failed, 02 successful, 03 blocked.
enum MobileCVMResults: Equatable {
    case notPerformed
    case failed
    case successful
    case blocked

    init(_ bytes: [UInt8]?) {
        guard let bytes, bytes.count == 3, bytes[0] == 0x01 else {
            self = .notPerformed
            return
        }
        switch bytes[2] {
        case 0x01: self = .failed
        case 0x02: self = .successful
        case 0x03: self = .blocked
        case _: self = .notPerformed
        }
    }
}
