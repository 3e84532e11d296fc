// SPDX-License-Identifier: Apache-2.0
public import Configuration
import Envelope
public import PINDeviceAPI
public import PaymentValues

/// Why a PIN device is not used: a terminal announces an online PIN only where one can be had.
public enum PINDeviceFault: String, Error, Equatable, Sendable, CaseIterable {
    case noAnswer, notReady
    /// Software is no PIN device in live mode.
    case simulator
    case publishedKey, notApproved, otherApproval, approvalExpired
    /// It does not have the key that its account would be sealed to.
    case otherKey
    case noKeySet
    /// Only formats 0, 3 and 4 of ISO 9564-1 bind the PIN to the account.
    case formatUnsuitable

    public var description: String {
        switch self {
        case .noAnswer: "nobody answers at its socket"
        case .notReady: "it is not ready"
        case .simulator: "it is software, which live mode refuses"
        case .publishedKey: "its key is a published test key"
        case .notApproved: "it names no approval"
        case .otherApproval: "its approval is not the one in the configuration"
        case .approvalExpired: "its approval has expired"
        case .otherKey: "it does not have the key in the configuration"
        case .noKeySet: "it does not have the key set in the configuration"
        case .formatUnsuitable: "the key set makes no block of format 0, 3 or 4"
        }
    }

    public var remedy: String {
        switch self {
        case .noAnswer: "start the device's driver, and give it the group nfc-tap-ped"
        case .notReady: "look at the device"
        case .simulator: "use an approved device, or mode = \"test\""
        case .publishedKey: "install the JWK of the device that its vendor gave you"
        case .notApproved, .otherApproval, .approvalExpired: "ask the device's vendor"
        case .otherKey: "ask the vendor for the JWK of this very device"
        case .noKeySet, .formatUnsuitable: "ask your payment service which keys it has loaded"
        }
    }
}

/// How a PIN is to be enciphered by a device that may be used.
public struct PINDeviceOffer: Equatable, Sendable {
    public var format: Int
    /// The whole card number goes into the block.
    public var takesWholeNumber: Bool { format == 4 }
    public var algorithm: String
    public var device: OnlinePIN.Device

    /// Holds what a device says of itself against what an administrator has written down.
    ///
    /// - Parameter today: `YYYY-MM-DD`.
    /// - Throws: `PINDeviceFault`, the first in which device and administrator differ.
    public init(
        _ status: PINDeviceStatus?, by settings: PINDeviceSettings, in mode: Mode, on today: String
    ) throws(PINDeviceFault) {
        guard let status else { throw .noAnswer }
        if mode == .live {
            guard !status.simulator else { throw .simulator }
            guard !settings.key.isTest else { throw .publishedKey }
            guard status.approval != nil, settings.approval != nil else { throw .notApproved }
        }
        if let approval = settings.approval, status.approval?.number != approval { throw .otherApproval }
        // Dates of this form are in the order of their letters.
        if let expires = status.approval?.expires, expires < today { throw .approvalExpired }
        guard status.accountKeys.contains(settings.key.keyID) else { throw .otherKey }
        guard let keys = status.keySets.first(where: { $0.id == settings.keySet }) else { throw .noKeySet }
        guard let format = [4, 3, 0].first(where: keys.formats.contains) else { throw .formatUnsuitable }
        guard status.state == .ready else { throw .notReady }
        self.format = format
        algorithm = keys.algorithm
        device = OnlinePIN.Device(serial: status.serial, approval: status.approval?.number)
    }

    /// What of an entry is sent to the payment service; `nil` where it is not what was asked for.
    public func pin(from entry: PINEntry, for request: PINEntryRequest) -> OnlinePIN? {
        guard entry.state == .entered, entry.id == request.id, entry.format == request.format,
            entry.keySet == request.keySet, entry.algorithm ?? algorithm == algorithm,
            let block = entry.block, block.utf8.count == (request.format == 4 ? 32 : 16),
            block.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            !Self.isClear(block, request.format),
            entry.ksn?.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) ?? true,
            entry.ksn?.utf8.count ?? 0 <= 32
        else { return nil }
        return OnlinePIN(
            attempt: entry.id, format: request.format, keySet: request.keySet, algorithm: algorithm,
            ksn: entry.ksn, block: block, device: device)
    }

    /// Whether it is the field that is enciphered, and not a block: format, length, digits and their fill. By chance a block
    /// looks so once in ten million; in format 3, whose fill is random, too often to be told apart.
    private static func isClear(_ block: String, _ format: Int) -> Bool {
        let nibbles = block.prefix(16).compactMap(\.hexDigitValue)
        let fill: Int? = [0: 0xF, 4: 0xA][format]
        guard nibbles.count == 16, let fill, nibbles[0] == format, (4...12).contains(nibbles[1]) else { return false }
        let digits = nibbles.dropFirst(2).prefix(nibbles[1])
        return digits.allSatisfy { $0 < 10 } && nibbles.dropFirst(2 + nibbles[1]).allSatisfy { $0 == fill }
    }
}
