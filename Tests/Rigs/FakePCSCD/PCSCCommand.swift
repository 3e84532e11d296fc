// SPDX-License-Identifier: Apache-2.0
/// Commands of pcsc-lite's client protocol 4:4, by their number in the message header.
public enum PCSCCommand: UInt32, Sendable, CaseIterable {
    case establishContext = 0x01
    case releaseContext = 0x02
    case connect = 0x04
    case reconnect = 0x05
    case disconnect = 0x06
    case beginTransaction = 0x07
    case endTransaction = 0x08
    case transmit = 0x09
    case control = 0x0A
    case status = 0x0B
    case cancel = 0x0D
    case getAttribute = 0x0F
    case setAttribute = 0x10
    case version = 0x11
    case getReaderTable = 0x12
    case registerForEvents = 0x13
    case stopWaiting = 0x14

    /// Size of the body, which is also the size of the answer where there is one.
    var bodySize: Int {
        switch self {
        case .establishContext, .disconnect, .endTransaction, .version: 12
        case .releaseContext, .beginTransaction, .status, .cancel: 8
        case .connect: 152
        case .reconnect, .control: 24
        case .transmit: 32
        case .getAttribute, .setAttribute: 280
        case .getReaderTable, .registerForEvents, .stopWaiting: 0
        }
    }
}

/// PC/SC return codes that the rig gives by itself; tests may force any other.
public enum PCSCCode {
    public static let success: UInt32 = 0
    public static let cancelled: UInt32 = 0x8010_0002
    public static let invalidHandle: UInt32 = 0x8010_0003
    public static let insufficientBuffer: UInt32 = 0x8010_0008
    public static let unknownReader: UInt32 = 0x8010_0009
    public static let sharingViolation: UInt32 = 0x8010_000B
    public static let noSmartcard: UInt32 = 0x8010_000C
    public static let protocolMismatch: UInt32 = 0x8010_000F
    public static let notTransacted: UInt32 = 0x8010_0016
    public static let readerUnavailable: UInt32 = 0x8010_0017
    public static let noService: UInt32 = 0x8010_001D
    public static let unsupportedFeature: UInt32 = 0x8010_001F
    public static let unpoweredCard: UInt32 = 0x8010_0067
    public static let resetCard: UInt32 = 0x8010_0068
    public static let removedCard: UInt32 = 0x8010_0069
}
