// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import TestSupport

extension Terminals {
    /// By the name that a transcript's header gives (`terminal:`).
    static func configuration(named name: String) -> TerminalConfiguration? {
        switch name {
        case "test": .test
        case "visa-pin": visa()
        case "mastercard-pin": mastercard()
        case "mastercard-magstripe": mastercard([DataObject(0xDF811E, [0x10]), DataObject(0xDF812C, [0x00])])
        default: nil
        }
    }

    /// The published test keys, with those of this project's test CA.
    static let authentication = OfflineAuthentication.using(.test)
}
