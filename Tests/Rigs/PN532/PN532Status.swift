// SPDX-License-Identifier: Apache-2.0
/// What the chip says of a command that failed (PN532 user manual §7.1, table 15).
public enum PN532Status: UInt8, CaseIterable, Sendable {
    case timeOut = 0x01
    case checksum = 0x02
    case parity = 0x03
    case bitCountInAnticollision = 0x04
    case framing = 0x05
    case bitCollision = 0x06
    case bufferTooSmall = 0x07
    case bufferOverflow = 0x09
    case fieldNotSwitchedOn = 0x0A
    case protocolError = 0x0B
    case temperature = 0x0D
    case internalBufferOverflow = 0x0E
    case invalidParameter = 0x10
    case commandNotSupportedByTarget = 0x12
    case dataFormat = 0x13
    case authentication = 0x14
    case uidCheckByte = 0x23
    case invalidDeviceState = 0x25
    case operationNotAllowed = 0x26
    case commandNotAcceptable = 0x27
    case releasedByInitiator = 0x29
    case cardExchanged = 0x2A
    case cardDisappeared = 0x2B
    case identifierMismatch = 0x2C
    case overCurrent = 0x2D
    case missingNodeAddress = 0x2E

    /// Whether an answer to that command begins with a status.
    static func isAnswered(to code: UInt8?) -> Bool { [0x40, 0x42, 0x44, 0x4E, 0x52, 0x54].contains(code ?? 0) }

    /// The whole answer to a command that comes to this.
    func answer(to command: [UInt8]) -> [UInt8] {
        let code = command.first ?? 0
        return [code &+ 1, PN532Status.isAnswered(to: code) ? rawValue : 0x00]
    }
}
