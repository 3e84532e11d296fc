// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Processing restrictions of the kernels that set the TVR (EMV Book 3 §10.4; C-2 PRO, C-5).
public enum ProcessingRestrictions {
    /// The TVR bits for what `store` holds: 9F08 and 9F09, 5F25, 5F24, 9F07, 5F28 (or `issuerCountry`), 9F1A, 9A, 9C,
    /// 9F03, 9F35 and 9F40.
    ///
    /// A missing 5F24 sets nothing here: kernels demand it before.
    public static func evaluate(_ store: DataStore, issuerCountry: Tag = .issuerCountry) -> TVR {
        var result: TVR = []
        if store.isPresentNotEmpty(.cardApplicationVersion), store.isPresentNotEmpty(.readerApplicationVersion),
            !store.isEqual(.cardApplicationVersion, .readerApplicationVersion)
        {
            result.insert(.differentVersions)
        }
        let today = store.value(.transactionDate).flatMap { EMVDate(yymmdd: $0) }
        if store.isPresentNotEmpty(.effectiveDate), isNotEffective(date(.effectiveDate, store), on: today) {
            result.insert(.notYetEffective)
        }
        if store.isPresentNotEmpty(.expirationDate), isExpired(date(.expirationDate, store), on: today) {
            result.insert(.expired)
        }
        if let usage = ApplicationUsageControl(store), !usage.allows(store, issuerCountry: issuerCountry) {
            result.insert(.serviceNotAllowed)
        }
        return result
    }

    /// Whether `expiry` has passed. A date that is missing or impossible counts as passed.
    public static func isExpired(_ expiry: EMVDate?, on today: EMVDate?) -> Bool {
        guard let expiry, let today, expiry.isPlausible, today.isPlausible else { return true }
        return today > expiry
    }

    /// Whether `start` is still to come. A date that is missing or impossible counts as to come.
    public static func isNotEffective(_ start: EMVDate?, on today: EMVDate?) -> Bool {
        guard let start, let today, start.isPlausible, today.isPlausible else { return true }
        return today < start
    }

    private static func date(_ tag: Tag, _ store: DataStore) -> EMVDate? {
        store.value(tag).flatMap { EMVDate(yymmdd: $0) }
    }
}
