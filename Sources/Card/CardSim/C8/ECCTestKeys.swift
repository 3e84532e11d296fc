// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Private keys of the kernel 8 test card, its issuer and its certification authority, 32 bytes each. TEST ONLY: made
/// for this project and published here.
enum ECCTestKeys {
    static let authority: [UInt8] = .hex("FF0856D246E86C09A08E9713BCC063B9D67A1FA799A5B740B9CDDDFA879B790B")
    static let issuer: [UInt8] = .hex("FCF5EE6E4E1CD38CD5A8DC58E44A042B3BE1347B673AB74F9B22633DEDC9C887")
    static let card: [UInt8] = .hex("BB05F4947F51A9695D681F4BB81A8520E523464DD6C1C08EEE7A7B9AE75FE00B")
    /// Issuer master key for application cryptograms, 16 bytes.
    static let issuerMasterKey: [UInt8] = .hex("8558E13E5931AC257988EAF889A933E5")

    /// What the certificates name the authority by; it is no payment system's.
    static let rid: [UInt8] = .hex("F04E46432D")
    static let caIndex: UInt8 = 0xE0
    /// First digits of the issuer's PANs: 9 and country code 999, which is nobody's.
    static let issuerIdentifier: [UInt8] = [9, 9, 9, 9, 9, 9]
}
