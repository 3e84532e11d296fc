// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Loyalty
import ReaderCore

/// The member number behind an address that a member card holds, such as https://shop.example/m/4711.
func memberNumber(
    on reader: any CardReader, addressPrefix: String, until end: TapInstant
) throws -> SecretBytes? {
    let club = try LoyaltyProgramme(id: "club", displayName: "Club", tag: .uri(prefix: addressPrefix))
    var machine = LoyaltyRead(try LoyaltyRequest(programmes: [club]))
    defer { reader.release() }
    let outcome = try drive(
        &machine, on: reader, deadlines: TapDeadlines(card: end), cancellation: TapCancellation(), onSignal: { _ in })
    return outcome.entries.first?.pass?.member
}
