// SPDX-License-Identifier: Apache-2.0
// Names: written by scripts/generate-data-dictionary.sh from Tests/Vectors/emv/tags.tsv; change that file, not this one.

public import CardBytes

/// Tags whose meaning is one kernel's, or a few kernels'; another kernel may have another name for the same tag.
extension Tag {
    /// 56: Track 1 Data (Mastercard mag-stripe / Discover MS / Visa MSD Track 1 Equivalent).
    public static var track1Data: Tag { 0x56 }
    /// 9E: Kernel Key Data (kernel ephemeral public key, C-8).
    public static var kernelKeyData: Tag { 0x9E }
    /// 9F1D: Terminal Risk Management Data.
    public static var terminalRiskManagementData: Tag { 0x9F1D }
    /// 9F2B: Kernel Qualifier (C-8).
    public static var kernelQualifier: Tag { 0x9F2B }
    /// 9F2C: Card Qualifier (C-8).
    public static var cardQualifier: Tag { 0x9F2C }
    /// 9F50: Cardholder Verification Status (K5 JCB).
    public static var cardholderVerificationStatus: Tag { 0x9F50 }
    /// 9F50: Offline Accumulator Balance (K2).
    public static var offlineBalance: Tag { 0x9F50 }
    /// 9F51: DRDOL (K2).
    public static var drdol: Tag { 0x9F51 }
    /// 9F52: Terminal Compatibility Indicator (K5 JCB).
    public static var terminalCompatibilityIndicator: Tag { 0x9F52 }
    /// 9F53: Transaction Category Code (K2).
    public static var transactionCategoryCode: Tag { 0x9F53 }
    /// 9F53: Terminal Interchange Profile (TIP) (K5 JCB).
    public static var terminalInterchangeProfile: Tag { 0x9F53 }
    /// 9F54: DS ODS Card.
    public static var dsODSCard: Tag { 0x9F54 }
    /// 9F57: Issuer Country Code (Visa VIS / JCB).
    public static var schemeIssuerCountry: Tag { 0x9F57 }
    /// 9F5A: Application Program Identifier (Program ID, DRL) (K3).
    public static var applicationProgramIdentifier: Tag { 0x9F5A }
    /// 9F5B: DSDOL (K2).
    public static var dsdol: Tag { 0x9F5B }
    /// 9F5B: Issuer Script Results (K3 and contact).
    public static var issuerScriptResults: Tag { 0x9F5B }
    /// 9F5C: Magstripe Data Object List (MDOL) (K5 JCB).
    public static var mdol: Tag { 0x9F5C }
    /// 9F5C: DS Requested Operator ID (K2).
    public static var dsRequestedOperatorID: Tag { 0x9F5C }
    /// 9F5D: Application Capabilities Information (K2).
    public static var applicationCapabilities: Tag { 0x9F5D }
    /// 9F5D: Available Offline Spending Amount (AOSA) (K3,K7).
    public static var availableOfflineSpendingAmount: Tag { 0x9F5D }
    /// 9F5E: DS ID (K2).
    public static var dsID: Tag { 0x9F5E }
    /// 9F5F: DS Slot Availability (K2).
    public static var dsSlotAvailability: Tag { 0x9F5F }
    /// 9F60: CVC3 (Track1) (K2 mag-stripe).
    public static var cvc3Track1: Tag { 0x9F60 }
    /// 9F60: Issuer Update Parameter (K5 JCB).
    public static var issuerUpdateParameter: Tag { 0x9F60 }
    /// 9F61: CVC3 (Track2) (K2 mag-stripe).
    public static var cvc3Track2: Tag { 0x9F61 }
    /// 9F62: PCVC3 (Track1): bitmap of CVC3 digit positions in track 1 discretionary data.
    public static var pcvc3Track1: Tag { 0x9F62 }
    /// 9F63: PUNATC (Track1): bitmap of UN and ATC digit positions.
    public static var punatcTrack1: Tag { 0x9F63 }
    /// 9F63: Product Identification Information / Card Product Identifier (K7).
    public static var productIdentification: Tag { 0x9F63 }
    /// 9F64: NATC (Track1): number of ATC digits.
    public static var natcTrack1: Tag { 0x9F64 }
    /// 9F65: PCVC3 (Track2).
    public static var pcvc3Track2: Tag { 0x9F65 }
    /// 9F66: PUNATC (Track2) when read from the card in kernel 2.
    public static var punatcTrack2: Tag { 0x9F66 }
    /// 9F66: Terminal Transaction Qualifiers (TTQ).
    public static var ttq: Tag { 0x9F66 }
    /// 9F67: NATC (Track2).
    public static var natcTrack2: Tag { 0x9F67 }
    /// 9F69: UDOL (K2).
    public static var udol: Tag { 0x9F69 }
    /// 9F69: Card Authentication Related Data (K3,K7).
    public static var cardAuthenticationRelatedData: Tag { 0x9F69 }
    /// 9F6A: Unpredictable Number (Numeric) (K2 mag-stripe).
    public static var unpredictableNumberNumeric: Tag { 0x9F6A }
    /// 9F6B: Track 2 Data (K2 mag-stripe).
    public static var track2Data: Tag { 0x9F6B }
    /// 9F6C: Card Transaction Qualifiers (CTQ).
    public static var ctq: Tag { 0x9F6C }
    /// 9F6D: Mag-stripe Application Version Number (Reader) (K2).
    public static var magStripeVersion: Tag { 0x9F6D }
    /// 9F6D: Contactless Reader Capabilities (K4 Amex).
    public static var readerCapabilities: Tag { 0x9F6D }
    /// 9F6E: Third Party Data (K2).
    public static var thirdPartyData: Tag { 0x9F6E }
    /// 9F6E: Form Factor Indicator (K3).
    public static var formFactorIndicator: Tag { 0x9F6E }
    /// 9F6E: Enhanced Contactless Reader Capabilities (K4 Amex).
    public static var enhancedReaderCapabilities: Tag { 0x9F6E }
    /// 9F6F: DS Slot Management Control (K2).
    public static var dsSlotManagementControl: Tag { 0x9F6F }
    /// 9F70: Card Interface and Payment Capabilities (K4 Amex).
    public static var cardCapabilities: Tag { 0x9F70 }
    /// 9F71: Mobile CVM Results (K4 Amex).
    public static var mobileCVMResults: Tag { 0x9F71 }
    /// 9F71: Card Processing Requirements (CPR) (K6 Discover).
    public static var cardProcessingRequirements: Tag { 0x9F71 }
    /// 9F7C: Customer Exclusive Data (K3).
    public static var customerExclusiveData: Tag { 0x9F7C }
    /// 9F7D: DS Summary 1 (K2).
    public static var dsSummary1: Tag { 0x9F7D }
    /// 9F7D: Application Specification Version / MS mode preferred marker (K6 ZIP FCI).
    public static var applicationSpecificationVersion: Tag { 0x9F7D }
    /// 9F7E: Mobile Support Indicator (K2).
    public static var mobileSupportIndicator: Tag { 0x9F7E }
    /// 9F7F: DS Unpredictable Number (K2).
    public static var dsUnpredictableNumber: Tag { 0x9F7F }
    /// BF60: Integrated Data Storage Record Update Template.
    public static var storageUpdateTemplate: Tag { 0xBF60 }
    /// DF4B: POS Cardholder Interaction Information (K2).
    public static var cardholderInteraction: Tag { 0xDF4B }
    /// DF61: DS Digest H.
    public static var dsDigestH: Tag { 0xDF61 }
    /// DF62: DS ODS Info.
    public static var dsODSInfo: Tag { 0xDF62 }
    /// 9F8102: Cardholder Verification Decision.
    public static var cardholderVerificationDecision: Tag { 0x9F8102 }
    /// 9F8103: Card Key Data.
    public static var cardKeyData: Tag { 0x9F8103 }
    /// 9F8104: Card TVR.
    public static var cardTVR: Tag { 0x9F8104 }
    /// 9F8105: EDA-MAC.
    public static var edaMAC: Tag { 0x9F8105 }
    /// 9F8106: Authenticated Application Data.
    public static var authenticatedApplicationData: Tag { 0x9F8106 }
    /// 9F8107: IAD-MAC Offset.
    public static var iadMACOffset: Tag { 0x9F8107 }
    /// 9F8108: Restart Indicator.
    public static var restartIndicator: Tag { 0x9F8108 }
    /// 9F8109: IAD-MAC.
    public static var iadMAC: Tag { 0x9F8109 }
    /// 9F810A: Extended SDA Tag List.
    public static var extendedStaticDataTagList: Tag { 0x9F810A }
    /// 9F810C: RR Time Excess.
    public static var relayTimeExcess: Tag { 0x9F810C }
    /// 9F810D: Card Capabilities Information.
    public static var cardCapabilitiesInformation: Tag { 0x9F810D }
    /// 9F8203: Tags To Read.
    public static var c8TagsToRead: Tag { 0x9F8203 }
    /// 9F8204: Error Indication.
    public static var c8ErrorIndication: Tag { 0x9F8204 }
    /// 9F8206: Card Data Input Capability.
    public static var c8CardDataInputCapability: Tag { 0x9F8206 }
    /// 9F8207: CVM Capability - CVM Required.
    public static var c8CVMCapabilityRequired: Tag { 0x9F8207 }
    /// 9F8208: CVM Capability - No CVM Required.
    public static var c8CVMCapabilityNotRequired: Tag { 0x9F8208 }
    /// 9F8209: Kernel Configuration.
    public static var c8KernelConfiguration: Tag { 0x9F8209 }
    /// 9F820A: Security Capability.
    public static var c8SecurityCapability: Tag { 0x9F820A }
    /// 9F820B: Terminal Action Code - Denial.
    public static var c8ActionCodeDenial: Tag { 0x9F820B }
    /// 9F820C: Terminal Action Code - Online.
    public static var c8ActionCodeOnline: Tag { 0x9F820C }
    /// 9F820D: Reader Contactless Floor Limit.
    public static var c8FloorLimit: Tag { 0x9F820D }
    /// 9F820E: Reader CVM Required Limit.
    public static var c8CVMLimit: Tag { 0x9F820E }
    /// 9F8211: Message Hold Time.
    public static var c8MessageHoldTime: Tag { 0x9F8211 }
    /// 9F8212: Hold Time Value.
    public static var c8FieldOffHoldTime: Tag { 0x9F8212 }
    /// 9F8213: Minimum Relay Resistance Grace Period.
    public static var c8MinimumGracePeriod: Tag { 0x9F8213 }
    /// 9F8214: Maximum Relay Resistance Grace Period.
    public static var c8MaximumGracePeriod: Tag { 0x9F8214 }
    /// 9F8215: Terminal Expected Transmission Time For RR C-APDU.
    public static var c8ExpectedCommandTime: Tag { 0x9F8215 }
    /// 9F8216: Terminal Expected Transmission Time For RR R-APDU.
    public static var c8ExpectedResponseTime: Tag { 0x9F8216 }
    /// 9F8217: Relay Resistance Accuracy Threshold.
    public static var c8AccuracyThreshold: Tag { 0x9F8217 }
    /// 9F8218: RR Transmission Time Mismatch Threshold.
    public static var c8MismatchThreshold: Tag { 0x9F8218 }
    /// 9F821A: Kernel Reserved TVR Mask.
    public static var c8KernelTVRMask: Tag { 0x9F821A }
    /// 9F821B: Write Data Status.
    public static var writeDataStatus: Tag { 0x9F821B }
    /// 9F821C: Read Data Status.
    public static var readDataStatus: Tag { 0x9F821C }
    /// 9F821D: Message Identifiers On Restart.
    public static var messagesOnRestart: Tag { 0x9F821D }
    /// 9F821E: Default IAD-MAC Offset.
    public static var defaultIADMACOffset: Tag { 0x9F821E }
    /// 9F821F: Discretionary Data Tag List.
    public static var discretionaryDataTagList: Tag { 0x9F821F }
    /// 9F8220: Default CDOL1.
    public static var defaultCDOL1: Tag { 0x9F8220 }
    /// 9F8221: Tag Mapping List.
    public static var tagMappingList: Tag { 0x9F8221 }
    /// BF8104: Data Envelopes To Write.
    public static var dataEnvelopesToWrite: Tag { 0xBF8104 }
    /// DF8101: DS Summary 2.
    public static var dsSummary2: Tag { 0xDF8101 }
    /// DF8102: DS Summary 3.
    public static var dsSummary3: Tag { 0xDF8102 }
    /// DF8104: Balance Read Before Gen AC.
    public static var balanceBeforeCryptogram: Tag { 0xDF8104 }
    /// DF8105: Balance Read After Gen AC.
    public static var balanceAfterCryptogram: Tag { 0xDF8105 }
    /// DF8106: Data Needed.
    public static var dataNeeded: Tag { 0xDF8106 }
    /// DF8107: CDOL1 Related Data.
    public static var cdol1RelatedData: Tag { 0xDF8107 }
    /// DF8108: DS AC Type.
    public static var dsACType: Tag { 0xDF8108 }
    /// DF8109: DS Input (Term).
    public static var dsInputTerm: Tag { 0xDF8109 }
    /// DF810A: DS ODS Info For Reader.
    public static var dsODSInfoForReader: Tag { 0xDF810A }
    /// DF810B: DS Summary Status.
    public static var dsSummaryStatus: Tag { 0xDF810B }
    /// DF810C: Kernel ID.
    public static var kernelID: Tag { 0xDF810C }
    /// DF810D: DSVN Term.
    public static var dsvnTerm: Tag { 0xDF810D }
    /// DF810E: Post-Gen AC Put Data Status.
    public static var putDataStatusAfterCryptogram: Tag { 0xDF810E }
    /// DF810F: Pre-Gen AC Put Data Status.
    public static var putDataStatusBeforeCryptogram: Tag { 0xDF810F }
    /// DF8111: PDOL Related Data.
    public static var pdolRelatedData: Tag { 0xDF8111 }
    /// DF8112: Tags To Read.
    public static var tagsToRead: Tag { 0xDF8112 }
    /// DF8113: DRDOL Related Data.
    public static var drdolRelatedData: Tag { 0xDF8113 }
    /// DF8114: Reference Control Parameter (P1 of GENERATE AC).
    public static var referenceControlParameter: Tag { 0xDF8114 }
    /// DF8115: Error Indication.
    public static var errorIndication: Tag { 0xDF8115 }
    /// DF8117: Card Data Input Capability (9F33 byte 1).
    public static var cardDataInputCapability: Tag { 0xDF8117 }
    /// DF8118: CVM Capability - CVM Required (9F33 byte 2).
    public static var cvmCapabilityRequired: Tag { 0xDF8118 }
    /// DF8119: CVM Capability - No CVM Required (9F33 byte 2).
    public static var cvmCapabilityNotRequired: Tag { 0xDF8119 }
    /// DF811A: Default UDOL.
    public static var defaultUDOL: Tag { 0xDF811A }
    /// DF811B: Kernel Configuration.
    public static var kernelConfiguration: Tag { 0xDF811B }
    /// DF811C: Max Lifetime of Torn Transaction Log Record (seconds).
    public static var tornRecordLifetime: Tag { 0xDF811C }
    /// DF811D: Max Number of Torn Transaction Log Records.
    public static var tornRecordCapacity: Tag { 0xDF811D }
    /// DF811E: Mag-stripe CVM Capability - CVM Required.
    public static var magStripeCVMCapabilityRequired: Tag { 0xDF811E }
    /// DF811F: Security Capability (9F33 byte 3).
    public static var securityCapability: Tag { 0xDF811F }
    /// DF8120: Terminal Action Code - Default.
    public static var terminalActionCodeDefault: Tag { 0xDF8120 }
    /// DF8121: Terminal Action Code - Denial.
    public static var terminalActionCodeDenial: Tag { 0xDF8121 }
    /// DF8122: Terminal Action Code - Online.
    public static var terminalActionCodeOnline: Tag { 0xDF8122 }
    /// DF8123: Reader Contactless Floor Limit.
    public static var readerFloorLimit: Tag { 0xDF8123 }
    /// DF8124: Reader Contactless Transaction Limit (No On-device CVM).
    public static var transactionLimitWithoutDeviceCVM: Tag { 0xDF8124 }
    /// DF8125: Reader Contactless Transaction Limit (On-device CVM).
    public static var transactionLimitWithDeviceCVM: Tag { 0xDF8125 }
    /// DF8126: Reader CVM Required Limit.
    public static var readerCVMLimit: Tag { 0xDF8126 }
    /// DF8128: IDS Status.
    public static var idsStatus: Tag { 0xDF8128 }
    /// DF812A: DD Card (Track1).
    public static var track1DynamicData: Tag { 0xDF812A }
    /// DF812B: DD Card (Track2).
    public static var track2DynamicData: Tag { 0xDF812B }
    /// DF812C: Mag-stripe CVM Capability - No CVM Required.
    public static var magStripeCVMCapabilityNotRequired: Tag { 0xDF812C }
    /// DF812D: Message Hold Time (units 100 ms).
    public static var messageHoldTime: Tag { 0xDF812D }
    /// DF8130: Hold Time Value (units 100 ms, field-off).
    public static var fieldOffHoldTime: Tag { 0xDF8130 }
    /// DF8131: Phone Message Table.
    public static var phoneMessageTable: Tag { 0xDF8131 }
    /// DF8132: Minimum Relay Resistance Grace Period (100 us).
    public static var minimumGracePeriod: Tag { 0xDF8132 }
    /// DF8133: Maximum Relay Resistance Grace Period (100 us).
    public static var maximumGracePeriod: Tag { 0xDF8133 }
    /// DF8134: Terminal Expected Transmission Time For Relay Resistance C-APDU (100 us).
    public static var expectedCommandTime: Tag { 0xDF8134 }
    /// DF8135: Terminal Expected Transmission Time For Relay Resistance R-APDU (100 us).
    public static var expectedResponseTime: Tag { 0xDF8135 }
    /// DF8136: Relay Resistance Accuracy Threshold.
    public static var accuracyThreshold: Tag { 0xDF8136 }
    /// DF8137: Relay Resistance Transmission Time Mismatch Threshold (%).
    public static var mismatchThreshold: Tag { 0xDF8137 }
    /// DF8301: Terminal Relay Resistance Entropy.
    public static var terminalRelayEntropy: Tag { 0xDF8301 }
    /// DF8302: Device Relay Resistance Entropy.
    public static var deviceRelayEntropy: Tag { 0xDF8302 }
    /// DF8303: Min Time For Processing Relay Resistance APDU (100 us).
    public static var minimumRelayTime: Tag { 0xDF8303 }
    /// DF8304: Max Time For Processing Relay Resistance APDU (100 us).
    public static var maximumRelayTime: Tag { 0xDF8304 }
    /// DF8305: Device Estimated Transmission Time For RR R-APDU (100 us).
    public static var estimatedRelayTransmissionTime: Tag { 0xDF8305 }
    /// DF8306: Measured Relay Resistance Processing Time.
    public static var measuredRelayTime: Tag { 0xDF8306 }
    /// DF8307: RRP Counter.
    public static var relayCounter: Tag { 0xDF8307 }
    /// FF8101: Torn Record.
    public static var tornRecord: Tag { 0xFF8101 }
    /// FF8102: Tags To Write Before Gen AC.
    public static var tagsToWriteBeforeCryptogram: Tag { 0xFF8102 }
    /// FF8103: Tags To Write After Gen AC.
    public static var tagsToWriteAfterCryptogram: Tag { 0xFF8103 }
    /// FF8104: Data To Send.
    public static var dataToSend: Tag { 0xFF8104 }
}
