// SPDX-License-Identifier: Apache-2.0
import CardSim
import Loyalty
import POSAPI
import PaymentValues
import TapSession

/// The programmes of the shop, and what a request wants of them.
struct LoyaltyOffer: Sendable {
    var programmes: [LoyaltyProgramme]
    /// Seconds by which the time in an iPhone's pass may differ from ours; `nil` only reports that time.
    var maximumClockDifference: UInt32?
    var clock: @Sendable () -> WallClock = { .system }

    /// The programmes of the phones in software.
    static let test = LoyaltyOffer(
        programmes: LoyaltyProgramme.test(
            LoyaltyProgramme.TestKeys(
                clubPassType: WalletTestKeys.clubPassType, clubKey: WalletTestKeys.clubPrivateKey,
                giftPassType: WalletTestKeys.giftPassType, giftKey: WalletTestKeys.giftPrivateKey,
                collector: WalletTestKeys.collectorID, collectorKey: WalletTestKeys.collectorPrivateKeyVersion2,
                collectorKeyVersion: 2)))

    /// What is to be asked of a phone or member card; `nil` where the request has no wish for passes.
    ///
    /// - Throws: why it cannot be asked for.
    func request(_ message: TransactionRequest) throws(ErrorBody) -> LoyaltyRequest? {
        guard message.type == .loyalty || message.loyalty != nil else { return nil }
        guard !programmes.isEmpty else { throw ErrorBody(.loyaltyNotConfigured) }
        let wish = message.loyalty ?? LoyaltyOptions()
        var chosen = programmes
        if let ids = wish.programmes {
            chosen = programmes.filter { ids.contains($0.id) }
            guard chosen.count == ids.count else {
                throw ErrorBody(.loyaltyProgrammeUnknown, field: "loyalty.programmes")
            }
        }
        do throws(LoyaltyConfigurationError) {
            let timestamps = maximumClockDifference.map {
                TimestampPolicy(clock: clock(), maximumSkewSeconds: $0)
            }
            guard message.type != .loyalty else {
                return try LoyaltyRequest(programmes: chosen, timestamps: timestamps)
            }
            // The identifier of a payment card is no member number: it is looked at only where no payment is.
            return try LoyaltyRequest(
                programmes: chosen, purpose: .passesAndPayment(stopOnPass: wish.stopOnPass ?? false),
                carriers: [.wallet, .tag], timestamps: timestamps)
        } catch {
            throw ErrorBody(.requestInvalidField, field: "loyalty.programmes")
        }
    }
}
