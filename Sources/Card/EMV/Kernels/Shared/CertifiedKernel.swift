// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// A kernel that verifies signatures of a card under CA keys: 3 to 7.
protocol CertifiedKernel: RecordReadingKernel {
    var authentication: CardAuthentication? { get }
}

extension CertifiedKernel {
    func complete(_ outcome: inout Outcome) { outcome.unmatchedKey = authentication?.unmatchedKey(store) }
}
