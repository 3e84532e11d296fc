// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderCore

/// Events and values in words, without card data.
enum Phrase {
    static func transaction(_ transaction: Transaction) -> String {
        let time = transaction.time.hhmmss.map { Hex.string([$0]) }.joined(separator: ":")
        var words =
            CodeNames.amount(transaction.amount, currency: UInt64(transaction.currency))
            + ", \(CodeNames.transactionType(transaction.type.rawValue)), "
            + "\(CardText.date(transaction.date)) \(time), \(CodeNames.country(UInt64(transaction.country)))"
        if let other = transaction.otherAmount {
            words += ", including \(CodeNames.amount(other, currency: UInt64(transaction.currency))) cashback"
        }
        return words
    }

    /// Message and status as the specification numbers them, with their names.
    static func signal(_ request: UIRequest) -> String {
        let ids = "\(Hex.string([request.message.rawValue]))/\(Hex.string([request.status.rawValue]))"
        var text = "\(ids) \(request.message), \(request.status)"
        if request.holdTime > 0 { text += ", hold \(request.holdMilliseconds) ms" }
        if let value = request.value { text += ", with \(value.qualifier)" }
        return text
    }

    static func card(_ card: CardActivation) -> String {
        switch card.technology {
        case .typeA: "type A"
        case .typeB: "type B"
        case .feliCa: "FeliCa"
        case .iso15693: "ISO/IEC 15693"
        case .unknown: "type not known"
        }
    }

    static func fault(_ answer: Transcript.Answer) -> String {
        switch answer {
        case .response: "answered"
        case .cardLost: "card lost"
        case .timedOut: "timed out"
        case .detached: "reader detached"
        }
    }

    static func authentication(_ authentication: TapTrace.Authentication) -> String {
        let what = "\(authentication.method.rawValue) with CA key \(Hex.string([authentication.caIndex]))"
        return authentication.failure.map { "\(what) failed: \($0)" } ?? "\(what) verified"
    }

    static func error(_ error: ErrorIndication) -> String? {
        var parts: [String] = []
        if error.l1 != .ok { parts.append("L1 \(error.l1)") }
        if error.l2 != .ok { parts.append("L2 \(error.l2)") }
        if error.l3 != .ok { parts.append("L3 \(error.l3)") }
        if let status = error.statusWord { parts.append("\(status) \(CodeNames.statusWord(status))") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// What a transaction was doing, as the subject of a sentence.
    static func step(_ step: ProcessingStep) -> String {
        switch step {
        case .preProcessing: "the limits before the card"
        case .applicationSelection: "the selection of an application"
        case .initiation: "the start of the kernel"
        case .processingOptions: "the answer to GET PROCESSING OPTIONS"
        case .relayResistance: "the relay resistance protocol"
        case .records: "the reading of the records"
        case .cardData: "the check of what the card sent"
        case .dataStorage: "the reading and writing of data envelopes"
        case .offlineAuthentication: "offline data authentication"
        case .restrictions: "the processing restrictions"
        case .cardholderVerification: "cardholder verification"
        case .actionAnalysis: "the terminal's action analysis"
        case .cryptogram: "the card's cryptogram"
        case .recovery: "the recovery of a torn transaction"
        case .magStripe: "the mag-stripe data"
        case .cardCounters: "the card's counters or balance"
        case .issuerUpdate: "the issuer's update of the card"
        }
    }

    static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
}
