// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Why a kernel did not do better: Error Indication (DF8115 of kernel 2, six bytes).
public struct ErrorIndication: Equatable, Sendable {
    /// Level 1: what the transport reported.
    public enum L1: UInt8, Sendable {
        case ok = 0x00
        case timeOut = 0x01
        case transmission = 0x02
        case protocolError = 0x03

        public init(_ loss: CardLoss) {
            switch loss {
            case .timeOut: self = .timeOut
            case .transmission: self = .transmission
            case .protocolError: self = .protocolError
            }
        }
    }

    /// Level 2; 10, 12 and 13 belong to kernel 8.
    public enum L2: UInt8, Sendable {
        case ok = 0x00
        case cardDataMissing = 0x01
        case camFailed = 0x02
        case statusBytes = 0x03
        case parsingError = 0x04
        case maxLimitExceeded = 0x05
        case cardDataError = 0x06
        case magStripeNotSupported = 0x07
        case noPPSE = 0x08
        case ppseFault = 0x09
        case emptyCandidateList = 0x0A
        case idsReadError = 0x0B
        case idsWriteError = 0x0C
        case idsDataError = 0x0D
        case idsNoMatchingAC = 0x0E
        case terminalDataError = 0x0F
        case decryptionFailed = 0x10
        case iadMACFailed = 0x12
        case edaMACFailed = 0x13
    }

    public enum L3: UInt8, Sendable {
        case ok = 0x00
        case timeOut = 0x01
        case stop = 0x02
        case amountNotPresent = 0x03
    }

    public var l1: L1
    public var l2: L2
    public var l3: L3
    /// Status word of the answer that failed, where `l2` is `.statusBytes`.
    public var statusWord: StatusWord?
    public var messageOnError: UIRequest.Message

    public init(
        l1: L1 = .ok, l2: L2 = .ok, l3: L3 = .ok, statusWord: StatusWord? = nil,
        messageOnError: UIRequest.Message = .none
    ) {
        self.l1 = l1
        self.l2 = l2
        self.l3 = l3
        self.statusWord = statusWord
        self.messageOnError = messageOnError
    }

    /// DF8115: L1, L2, L3, SW1 SW2, message on error.
    public var bytes: [UInt8] {
        let status = statusWord ?? StatusWord(0)
        return [l1.rawValue, l2.rawValue, l3.rawValue, status.sw1, status.sw2, messageOnError.rawValue]
    }
}
