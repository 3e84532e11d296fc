// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Codes

/// Which data objects the hosts of each scheme want in field 55 (ISO 8583 DE 55) of a transaction in EMV mode.
///
/// The rows of American Express, Discover, Mastercard and Visa are those of the EMV table that Cybersource and Visa
/// Acceptance publish for their hosts (mass transit; their lodging table has the same columns of Mastercard and Visa).
/// No table of JCB, UnionPay and others is public: their row names what all four have in common, and demands nothing.
public struct HostData: Equatable, Sendable {
    /// What a host says of one tag.
    public enum Presence: String, Sendable, CaseIterable {
        /// The host refuses a message without it.
        case mandatory = "M"
        /// Sent if card and terminal have it.
        case conditional = "C"
        /// The host takes it.
        case optional = "O"
        /// The host refuses a message with it.
        case prohibited = "P"
    }

    /// One scheme's row.
    public struct Row: Equatable, Sendable {
        private var entries: [(tag: Tag, presence: Presence)]
        /// What a refund has in the place of the same tag's entry.
        private var refunds: [Tag: Presence] = [:]

        init(_ entries: [(tag: Tag, presence: Presence)], refunds: [Tag: Presence] = [:]) {
            self.entries = entries
            self.refunds = refunds
        }

        /// The tags of the row, each once.
        public var tags: [Tag] { entries.map(\.tag) }

        /// - Returns: `nil` for a tag that the row does not name.
        public func presence(of tag: Tag, in type: TransactionType) -> Presence? {
            if type == .refund, let refund = refunds[tag] { return refund }
            return entries.first { $0.tag == tag }?.presence
        }

        /// Puts another entry in the place of the tag's, or adds one.
        public mutating func set(_ tag: Tag, _ presence: Presence) {
            if let index = entries.firstIndex(where: { $0.tag == tag }) {
                entries[index].presence = presence
            } else {
                entries.append((tag, presence))
            }
        }

        /// The same for refunds alone.
        public mutating func setInRefunds(_ tag: Tag, _ presence: Presence) {
            if !tags.contains(tag) { entries.append((tag, .optional)) }
            refunds[tag] = presence
        }

        public static func == (left: Row, right: Row) -> Bool {
            left.refunds == right.refunds && left.entries.elementsEqual(right.entries) { $0 == $1 }
        }
    }

    /// Rows by the scheme's name (`PaymentNetwork.scheme`).
    public private(set) var rows: [String: Row]

    /// The row of the scheme whose application this is; the common one for a scheme without its own.
    public func row(of aid: [UInt8]) -> Row {
        PaymentNetwork(aid: aid).map { row(ofScheme: $0.scheme) } ?? HostData.common(.conditional)
    }

    public func row(ofScheme scheme: String) -> Row { rows[scheme] ?? HostData.common(.conditional) }

    /// Gives a scheme a row of its own.
    public mutating func set(_ row: Row, ofScheme scheme: String) { rows[scheme] = row }

    /// What the four published tables demand alike, and what other public documents of hosts ask for besides.
    private static func common(
        _ presence: Presence, _ own: [(tag: Tag, presence: Presence)] = [], refunds: [Tag: Presence] = [:]
    ) -> Row {
        let demanded: [Tag] = [
            .transactionDate, .transactionType, .transactionCurrency, .terminalCountry, .amountAuthorised,
            .amountOther, .atc, .aip, .dfName, .tvr, .issuerApplicationData, .applicationCryptogram,
            .terminalCapabilities, .unpredictableNumber,
        ]
        let named = Set(own.map(\.tag))
        let further: [Tag] = [
            .panSequenceNumber, .cryptogramInformation, .cvmResults, .formFactorIndicator, .terminalAID, .adfName,
            .terminalType, .interfaceDeviceSerialNumber, .entryMode, .additionalTerminalCapabilities,
            .transactionSequenceCounter, .paymentAccountReference, .tokenRequestorID,
        ]
        return Row(
            demanded.map { ($0, presence) } + own + further.filter { !named.contains($0) }.map { ($0, .conditional) },
            refunds: refunds)
    }

    /// As published; a terminal file may change single entries.
    public static let standard = HostData(rows: [
        "American Express": common(
            .mandatory,
            [
                (.panSequenceNumber, .mandatory), (.cryptogramInformation, .mandatory), (.cvmResults, .optional),
                (.formFactorIndicator, .conditional),
            ]),
        "Discover": common(
            .mandatory,
            [
                (.panSequenceNumber, .prohibited), (.cryptogramInformation, .optional), (.cvmResults, .optional),
                (.formFactorIndicator, .conditional),
            ]),
        // 9F60, which kernel 5 calls an issuer's parameter, is authenticated application data to hosts of Mastercard.
        "Mastercard": common(
            .mandatory,
            [
                (.panSequenceNumber, .conditional), (.cryptogramInformation, .mandatory), (.cvmResults, .mandatory),
                (.thirdPartyData, .optional), (.issuerUpdateParameter, .optional), (.terminalKernel, .optional),
                (.transactionCategoryCode, .conditional),
            ], refunds: [.thirdPartyData: .prohibited]),
        "Visa": common(
            .mandatory,
            [
                (.panSequenceNumber, .optional), (.cryptogramInformation, .optional), (.cvmResults, .optional),
                (.formFactorIndicator, .conditional),
            ]),
    ])
}

extension Tag {
    /// 96: Kernel Identifier – Terminal.
    fileprivate static var terminalKernel: Tag { 0x96 }
}
