// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The tags that may leave unsealed. Everything else goes into the envelope only: tracks, PAN, cardholder data, PAR,
/// and certificates, from which the PAN can be recovered.
public enum ClearTags {
    public static let allowed: [Tag] = [
        .adfName, .applicationLabel, .aip, .dfName, .authorisationResponseCode, .tvr, .transactionDate, .tsi,
        .transactionType, .transactionCurrency, .panSequenceNumber, .amountAuthorised, .amountOther, .terminalAID,
        .readerApplicationVersion, .issuerApplicationData, .merchantCategoryCode, .terminalCountry,
        .interfaceDeviceSerialNumber, .transactionTime, .applicationCryptogram, .cryptogramInformation,
        .terminalCapabilities, .cvmResults, .terminalType, .atc, .unpredictableNumber, .transactionSequenceCounter,
        .transactionCategoryCode, .ttq, .ctq, .formFactorIndicator, .customerExclusiveData,
    ]

    public static func contains(_ tag: Tag) -> Bool { allowed.contains(tag) }
}
