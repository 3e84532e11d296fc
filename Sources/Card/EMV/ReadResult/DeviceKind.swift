// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What was tapped. The codes of Visa's Form Factor Indicator are unverified.
public enum DeviceKind: Equatable, Sendable {
    case card
    case phone
    /// A watch or a wristband.
    case wristWorn
    /// Another device, by the scheme's own code.
    case other(UInt8)

    /// - Returns: `nil` where the record does not tell.
    public init?(record: [DataObject], kernel: KernelIdentifier) {
        guard let value = record.value(of: .formFactorIndicator) else { return nil }
        switch kernel {
        case .visa, .unionPay: self.init(formFactor: value)
        case .mastercard: self.init(thirdPartyData: value)
        case _: return nil
        }
    }

    /// Form Factor Indicator of kernel 3, byte 1 bits 5…1.
    private init?(formFactor: [UInt8]) {
        guard formFactor.count == 4 else { return nil }
        switch formFactor[0] & 0x1F {
        // 01 is a mini-card, 02 a form factor that is no card without saying which, 04 any device worn at the wrist.
        case 0x00, 0x01: self = .card
        case 0x03: self = .phone
        case 0x04: self = .wristWorn
        case let code: self = .other(code)
        }
    }

    /// Third Party Data of kernel 2: a device type of two decimal digits.
    private init?(thirdPartyData: [UInt8]) {
        guard let type = ThirdPartyData(thirdPartyData)?.deviceType, type.allSatisfy({ (0x30...0x39).contains($0) })
        else {
            return nil
        }
        let code = (type[0] - 0x30) * 10 + type[1] - 0x30
        switch code {
        case 0: self = .card
        case 1: self = .phone
        case _: self = .other(code)
        }
    }
}
