// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The tags an acquirer expects in field 55 (ISO 8583 DE 55), by kernel. Taken from kernels' data records and from what
/// PSPs document; an acquirer may want others.
public enum AcquirerTags {
    /// Needed by every scheme.
    public static let common: [Tag] = [
        .transactionDate, .transactionType, .transactionCurrency, .terminalCountry, .amountAuthorised, .amountOther,
        .atc, .aip, .dfName, .tvr, .issuerApplicationData, .applicationCryptogram, .terminalCapabilities,
        .unpredictableNumber,
    ]

    /// The set of one kernel, without track data; the common set for a kernel that is not known here.
    public static func tags(for kernel: KernelIdentifier) -> [Tag] {
        switch kernel {
        case .mastercard: mastercard
        case .visa: visa
        case .americanExpress: americanExpress
        case .jcb: jcb
        case .discover: discover
        case .unionPay: unionPay
        case _: common
        }
    }

    private static let mastercard: [Tag] = [
        .aip, .dfName, .tvr, .transactionDate, .transactionType, .transactionCurrency, .panSequenceNumber,
        .amountAuthorised, .amountOther, .readerApplicationVersion, .issuerApplicationData, .terminalCountry,
        .interfaceDeviceSerialNumber, .applicationCryptogram, .cryptogramInformation, .terminalCapabilities,
        .cvmResults, .terminalType, .atc, .unpredictableNumber, .transactionSequenceCounter, .transactionCategoryCode,
        .issuerScriptResults, .thirdPartyData,
    ]
    private static let visa: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .aip, .dfName, .atc, .panSequenceNumber,
        .customerExclusiveData, .issuerApplicationData, .entryMode, .terminalCountry, .terminalCapabilities,
        .transactionCurrency, .transactionDate, .transactionType, .unpredictableNumber, .tvr, .formFactorIndicator,
        .cryptogramInformation,
    ]
    private static let americanExpress: [Tag] = [
        .transactionCurrency, .panSequenceNumber, .aip, .dfName, .tvr, .transactionDate, .transactionType,
        .amountAuthorised, .amountOther, .terminalAID, .readerApplicationVersion, .issuerActionCodeDefault,
        .issuerActionCodeDenial, .issuerActionCodeOnline, .issuerApplicationData, .merchantCategoryCode,
        .terminalCountry, .applicationCryptogram, .cryptogramInformation, .terminalCapabilities, .cvmResults,
        .terminalType, .atc, .unpredictableNumber, .merchantNameAndLocation, .readerCapabilities,
        .enhancedReaderCapabilities,
    ]
    private static let jcb: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .aip, .panSequenceNumber, .atc,
        .cryptogramInformation, .issuerApplicationData, .entryMode, .terminalCountry, .tvr, .terminalCapabilities,
        .transactionCurrency, .transactionDate, .transactionTime, .transactionType, .unpredictableNumber,
        .cardholderVerificationStatus, .cvmResults, .dfName, .issuerCountry, .schemeIssuerCountry,
    ]
    private static let discover: [Tag] = [
        .amountAuthorised, .amountOther, .applicationCryptogram, .terminalAID, .aip, .dfName, .panSequenceNumber, .atc,
        .applicationUsageControl, .cryptogramInformation, .issuerApplicationData, .readerApplicationVersion,
        .terminalCapabilities, .terminalCountry, .terminalType, .tvr, .transactionDate, .transactionType,
        .unpredictableNumber, .tsi, .transactionCurrency,
    ]
    private static let unionPay: [Tag] = [
        .transactionCurrency, .panSequenceNumber, .aip, .dfName, .tvr, .transactionDate, .transactionType,
        .issuerApplicationData, .terminalCountry, .applicationCryptogram, .atc, .unpredictableNumber,
        .formFactorIndicator, .customerExclusiveData, .cryptogramInformation, .terminalCapabilities, .ttq,
        .amountAuthorised, .amountOther, .availableOfflineSpendingAmount, .productIdentification, .terminalAID,
        .transactionTime, .merchantNameAndLocation,
    ]
}
