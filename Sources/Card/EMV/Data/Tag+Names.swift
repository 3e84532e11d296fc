// SPDX-License-Identifier: Apache-2.0
// Names: written by scripts/generate-data-dictionary.sh from Tests/Vectors/emv/tags.tsv; change that file, not this one.

public import CardBytes

/// Tags that mean the same to every kernel.
extension Tag {
    /// 4F: Application Dedicated File (ADF) Name.
    public static var adfName: Tag { 0x4F }
    /// 50: Application Label.
    public static var applicationLabel: Tag { 0x50 }
    /// 57: Track 2 Equivalent Data.
    public static var track2Equivalent: Tag { 0x57 }
    /// 5A: Application Primary Account Number (PAN).
    public static var pan: Tag { 0x5A }
    /// 61: Application Template (directory entry).
    public static var applicationTemplate: Tag { 0x61 }
    /// 6F: File Control Information (FCI) Template.
    public static var fciTemplate: Tag { 0x6F }
    /// 70: READ RECORD Response Message Template.
    public static var recordTemplate: Tag { 0x70 }
    /// 71: Issuer Script Template 1.
    public static var issuerScriptTemplate1: Tag { 0x71 }
    /// 72: Issuer Script Template 2.
    public static var issuerScriptTemplate2: Tag { 0x72 }
    /// 77: Response Message Template Format 2.
    public static var responseFormat2: Tag { 0x77 }
    /// 80: Response Message Template Format 1.
    public static var responseFormat1: Tag { 0x80 }
    /// 82: Application Interchange Profile (AIP).
    public static var aip: Tag { 0x82 }
    /// 83: Command Template.
    public static var commandTemplate: Tag { 0x83 }
    /// 84: Dedicated File (DF) Name.
    public static var dfName: Tag { 0x84 }
    /// 86: Issuer Script Command.
    public static var issuerScriptCommand: Tag { 0x86 }
    /// 87: Application Priority Indicator.
    public static var applicationPriority: Tag { 0x87 }
    /// 8A: Authorisation Response Code.
    public static var authorisationResponseCode: Tag { 0x8A }
    /// 8B: POI Information.
    public static var poiInformation: Tag { 0x8B }
    /// 8C: Card Risk Management Data Object List 1 (CDOL1).
    public static var cdol1: Tag { 0x8C }
    /// 8D: Card Risk Management Data Object List 2 (CDOL2).
    public static var cdol2: Tag { 0x8D }
    /// 8E: Cardholder Verification Method (CVM) List.
    public static var cvmList: Tag { 0x8E }
    /// 8F: Certification Authority Public Key Index (card).
    public static var caPublicKeyIndex: Tag { 0x8F }
    /// 90: Issuer Public Key Certificate.
    public static var issuerCertificate: Tag { 0x90 }
    /// 92: Issuer Public Key Remainder.
    public static var issuerRemainder: Tag { 0x92 }
    /// 93: Signed Static Application Data (SSAD).
    public static var signedStaticData: Tag { 0x93 }
    /// 94: Application File Locator (AFL).
    public static var afl: Tag { 0x94 }
    /// 95: Terminal Verification Results (TVR).
    public static var tvr: Tag { 0x95 }
    /// 96: Kernel Identifier - Terminal.
    public static var kernelIdentifierTerminal: Tag { 0x96 }
    /// 9A: Transaction Date.
    public static var transactionDate: Tag { 0x9A }
    /// 9B: Transaction Status Information (TSI).
    public static var tsi: Tag { 0x9B }
    /// 9C: Transaction Type.
    public static var transactionType: Tag { 0x9C }
    /// A5: FCI Proprietary Template.
    public static var fciProprietaryTemplate: Tag { 0xA5 }
    /// 5F20: Cardholder Name.
    public static var cardholderName: Tag { 0x5F20 }
    /// 5F24: Application Expiration Date.
    public static var expirationDate: Tag { 0x5F24 }
    /// 5F25: Application Effective Date.
    public static var effectiveDate: Tag { 0x5F25 }
    /// 5F28: Issuer Country Code (numeric).
    public static var issuerCountry: Tag { 0x5F28 }
    /// 5F2A: Transaction Currency Code.
    public static var transactionCurrency: Tag { 0x5F2A }
    /// 5F2D: Language Preference.
    public static var languagePreference: Tag { 0x5F2D }
    /// 5F34: PAN Sequence Number.
    public static var panSequenceNumber: Tag { 0x5F34 }
    /// 5F36: Transaction Currency Exponent.
    public static var transactionCurrencyExponent: Tag { 0x5F36 }
    /// 9F01: Acquirer Identifier.
    public static var acquirerIdentifier: Tag { 0x9F01 }
    /// 9F02: Amount, Authorised (Numeric).
    public static var amountAuthorised: Tag { 0x9F02 }
    /// 9F03: Amount, Other (Numeric).
    public static var amountOther: Tag { 0x9F03 }
    /// 9F06: Application Identifier (AID) - terminal.
    public static var terminalAID: Tag { 0x9F06 }
    /// 9F07: Application Usage Control (AUC).
    public static var applicationUsageControl: Tag { 0x9F07 }
    /// 9F08: Application Version Number (card).
    public static var cardApplicationVersion: Tag { 0x9F08 }
    /// 9F09: Application Version Number (reader).
    public static var readerApplicationVersion: Tag { 0x9F09 }
    /// 9F0D: Issuer Action Code - Default.
    public static var issuerActionCodeDefault: Tag { 0x9F0D }
    /// 9F0E: Issuer Action Code - Denial.
    public static var issuerActionCodeDenial: Tag { 0x9F0E }
    /// 9F0F: Issuer Action Code - Online.
    public static var issuerActionCodeOnline: Tag { 0x9F0F }
    /// 9F10: Issuer Application Data (IAD).
    public static var issuerApplicationData: Tag { 0x9F10 }
    /// 9F11: Issuer Code Table Index.
    public static var issuerCodeTableIndex: Tag { 0x9F11 }
    /// 9F12: Application Preferred Name.
    public static var preferredName: Tag { 0x9F12 }
    /// 9F13: Last Online ATC Register.
    public static var lastOnlineATC: Tag { 0x9F13 }
    /// 9F14: Lower Consecutive Offline Limit.
    public static var lowerConsecutiveLimit: Tag { 0x9F14 }
    /// 9F15: Merchant Category Code.
    public static var merchantCategoryCode: Tag { 0x9F15 }
    /// 9F16: Merchant Identifier.
    public static var merchantIdentifier: Tag { 0x9F16 }
    /// 9F19: Token Requestor ID.
    public static var tokenRequestorID: Tag { 0x9F19 }
    /// 9F1A: Terminal Country Code.
    public static var terminalCountry: Tag { 0x9F1A }
    /// 9F1B: Terminal Floor Limit.
    public static var terminalFloorLimit: Tag { 0x9F1B }
    /// 9F1C: Terminal Identification.
    public static var terminalIdentification: Tag { 0x9F1C }
    /// 9F1E: Interface Device (IFD) Serial Number.
    public static var interfaceDeviceSerialNumber: Tag { 0x9F1E }
    /// 9F1F: Track 1 Discretionary Data.
    public static var track1DiscretionaryData: Tag { 0x9F1F }
    /// 9F21: Transaction Time.
    public static var transactionTime: Tag { 0x9F21 }
    /// 9F23: Upper Consecutive Offline Limit.
    public static var upperConsecutiveLimit: Tag { 0x9F23 }
    /// 9F24: Payment Account Reference (PAR).
    public static var paymentAccountReference: Tag { 0x9F24 }
    /// 9F26: Application Cryptogram.
    public static var applicationCryptogram: Tag { 0x9F26 }
    /// 9F27: Cryptogram Information Data (CID).
    public static var cryptogramInformation: Tag { 0x9F27 }
    /// 9F29: Extended Selection.
    public static var extendedSelection: Tag { 0x9F29 }
    /// 9F2A: Kernel Identifier (Requested Kernel ID).
    public static var kernelIdentifier: Tag { 0x9F2A }
    /// 9F32: Issuer Public Key Exponent.
    public static var issuerExponent: Tag { 0x9F32 }
    /// 9F33: Terminal Capabilities.
    public static var terminalCapabilities: Tag { 0x9F33 }
    /// 9F34: CVM Results.
    public static var cvmResults: Tag { 0x9F34 }
    /// 9F35: Terminal Type.
    public static var terminalType: Tag { 0x9F35 }
    /// 9F36: Application Transaction Counter (ATC).
    public static var atc: Tag { 0x9F36 }
    /// 9F37: Unpredictable Number.
    public static var unpredictableNumber: Tag { 0x9F37 }
    /// 9F38: Processing Options Data Object List (PDOL).
    public static var pdol: Tag { 0x9F38 }
    /// 9F39: Point-of-Service Entry Mode.
    public static var entryMode: Tag { 0x9F39 }
    /// 9F3C: Transaction Reference Currency Code.
    public static var transactionReferenceCurrency: Tag { 0x9F3C }
    /// 9F3E: Terminal Categories Supported List.
    public static var terminalCategoriesSupported: Tag { 0x9F3E }
    /// 9F3F: Selection Data Object List (SDOL).
    public static var selectionDataObjectList: Tag { 0x9F3F }
    /// 9F40: Additional Terminal Capabilities.
    public static var additionalTerminalCapabilities: Tag { 0x9F40 }
    /// 9F41: Transaction Sequence Counter.
    public static var transactionSequenceCounter: Tag { 0x9F41 }
    /// 9F42: Application Currency Code.
    public static var applicationCurrency: Tag { 0x9F42 }
    /// 9F45: Data Authentication Code (DAC).
    public static var dataAuthenticationCode: Tag { 0x9F45 }
    /// 9F46: ICC Public Key Certificate.
    public static var iccCertificate: Tag { 0x9F46 }
    /// 9F47: ICC Public Key Exponent.
    public static var iccExponent: Tag { 0x9F47 }
    /// 9F48: ICC Public Key Remainder.
    public static var iccRemainder: Tag { 0x9F48 }
    /// 9F4A: Static Data Authentication Tag List.
    public static var staticDataTagList: Tag { 0x9F4A }
    /// 9F4B: Signed Dynamic Application Data (SDAD).
    public static var signedDynamicData: Tag { 0x9F4B }
    /// 9F4C: ICC Dynamic Number.
    public static var iccDynamicNumber: Tag { 0x9F4C }
    /// 9F4E: Merchant Name and Location.
    public static var merchantNameAndLocation: Tag { 0x9F4E }
    /// BF0C: FCI Issuer Discretionary Data.
    public static var fciDiscretionaryData: Tag { 0xBF0C }
}
