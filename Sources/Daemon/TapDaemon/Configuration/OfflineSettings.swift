// SPDX-License-Identifier: Apache-2.0
import Configuration
import Envelope
import PaymentValues
import Profile
import StoreAndForward

/// What rules storing and forwarding now.
struct OfflineSettings: Sendable {
    /// `nil` where nothing may be stored.
    var rules: OfflineRules?
    /// Name of the payment service.
    var serviceName: String
    /// Signs receipts for batches; `nil` where there is none, and no batch is ever let go.
    var receiptKey: VerificationKey?
    /// Payment services that the shop had before, by their names.
    var formerServices: [String: ConfigurationFile.FormerService] = [:]
    /// A payment that waits for longer is told of as overdue.
    var alertAge: Duration = .seconds(3_600)

    /// What signs a receipt for a batch for `payee`. No other payment service can let go what is not its own.
    func receiptKey(for payee: String) -> VerificationKey? {
        payee == serviceName ? receiptKey : formerServices[payee]?.receiptKey
    }

    /// - Parameter oldest: when the oldest payment was stored; `nil` where none is.
    func isOverdue(_ oldest: Timestamp?, at now: Timestamp) -> Bool {
        oldest.map { $0.advanced(bySeconds: alertAge.components.seconds) < now } ?? false
    }
}

extension OfflineSettings {
    /// A profile alone decides where one is in force. One that has expired allows nothing to be stored, but what is
    /// stored is still its payment service's.
    init(_ configuration: DaemonConfiguration, _ profile: Profile?, at now: Timestamp = .now) {
        self = configuration.offlineSettings
        guard let profile else { return }
        rules = now < profile.expiresAt ? profile.offline.map { OfflineRules($0) } : nil
        serviceName = profile.serviceName
        receiptKey = profile.receiptTokenKey
    }
}

extension OfflineRules {
    /// As the payment service has signed them.
    init(_ limits: OfflineLimits) {
        var currencies: [String: CurrencyLimit] = [:]
        for ceiling in limits.ceilings {
            currencies[ceiling.currency.code] = CurrencyLimit(amount: ceiling.amount, total: ceiling.total)
        }
        self.init(currencies: currencies, count: limits.count, schemes: Set(limits.networks))
        age = .seconds(limits.maximumAge)
        needsSameBoot = !limits.rebootAllowed
    }
}
