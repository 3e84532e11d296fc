// SPDX-License-Identifier: Apache-2.0
/// Why bytes are no short APDU.
public enum APDUError: Error, Equatable, Sendable {
    /// More than 255 data bytes.
    case dataTooLong(Int)
    /// Le outside 1…256.
    case leOutOfRange(Int)
    /// Fewer bytes than the header (command) or the status word (response) takes.
    case truncated(Int)
    /// Lc says another number of data bytes than there are.
    case lengthMismatch(lc: Int, have: Int)
}

extension APDUError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dataTooLong(let count): "\(count) data bytes, a short APDU takes 255"
        case .leOutOfRange(let le): "Le \(le), a short APDU takes 1 to 256"
        case .truncated(let count): "\(count) bytes are too few for an APDU"
        case .lengthMismatch(let lc, let have): "Lc says \(lc) data bytes, \(have) follow"
        }
    }
}
