// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// In what one Visa test card differs from another.
struct VisaOptions: Sendable {
    var disposition = CardDisposition.alwaysOnline
    var fastDDA: VisaApplication.FastDDA?
    /// 82.
    var interchangeProfile: [UInt8] = [0x00, 0x00]
    /// 94 with everything that offline authentication needs; empty for a card without records.
    var locator: [UInt8] = []
    /// 94 where nothing is authenticated.
    var shortLocator: [UInt8] = []
    /// The record that ends with 9F69; its objects without 9F69.
    var certificateRecord: (name: ApplicationFiles.RecordName, objects: [CardObject])?
    /// What follows the qualifiers in 9F69; kernel 7 wants at least one byte.
    var relatedDataTail: [UInt8] = []
    /// 9F6E, form factor indicator (bits unverified: 20 a card, 23 a phone).
    var formFactor: [UInt8]?
    /// The cardholder is verified by the device itself.
    var verifiesCardholder = false
    /// Takes the issuer's answer at a second presentation (CTQ byte 2 bit 7).
    var takesIssuerUpdate = false
}
