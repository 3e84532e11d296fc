// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Crypto
import Envelope
import ISO8583
import PSPAPI
import PaymentValues

/// A merchant and a terminal as the acquirer knows them.
struct Acceptor: Equatable, Sendable {
    let merchant: String
    /// Field 42, as it is in the table.
    let acceptor: String
    let location: String
    let category: String
    /// Field 41.
    let terminal: String
    var limits = MerchantLimits()
}

/// Why a request does not go to the acquirer: the response codes of ISO 8583 field 39 that come nearest.
enum RequestFault: Error, Equatable, Sendable {
    /// The envelope does not open, or holds no record of version 1, or lacks what the acquirer wants.
    case unreadable
    /// Field 55 cannot be made of it.
    case chipData(ChipDataError)
    /// It says something else than what stands beside it.
    case mismatch
    /// `exp` has passed.
    case stale
    /// Its read has paid already.
    case replayed
    case invalidNumber
    case unsupported
    /// Its merchant may not do this, by the table `merchant`.
    case notAllowed
    /// It is above a limit of its merchant.
    case overLimit

    var code: String {
        switch self {
        case .unreadable, .chipData, .mismatch: "30"
        case .stale: "68"
        case .replayed: "94"
        case .invalidNumber: "14"
        case .unsupported: "40"
        case .notAllowed: "57"
        case .overLimit: "61"
        }
    }
}

extension OpenedRecord {
    /// What has to be true of a record before anybody is asked.
    func check(_ request: AuthorizationRequest, now: Timestamp) throws(RequestFault) {
        guard transaction == request.id.text, Int64(exactly: amount) == request.amount.value,
            currency == request.amount.currency.code,
            digits.suffix(4).map({ $0 | 0x30 }) == Array(request.card.last4.utf8)
        else { throw .mismatch }
        // What the card has approved by itself may come later: up to thirty-one days.
        let grace: Int64 = request.offline ? 31 * 86_400 : 0
        guard Int64(clamping: expires) > now.milliseconds / 1_000 - grace else { throw .stale }
        guard passesLuhn else { throw .invalidNumber }
        if let asked = value(0x9F02), asked != BCD.encode(amount, count: 6) { throw .mismatch }
        if let code = value(0x5F2A), code != BCD.encode(UInt64(request.amount.currency.numeric), count: 2) {
            throw .mismatch
        }
        // An offline approval is one of the card: a transaction certificate (EMV Book 3, 9F27; where Visa's contactless kernel leaves that
        // out, bits 6 and 5 of byte 5 of 9F10: EMV Book C-3, 5.4.3.1).
        if request.offline {
            let results = value(0x9F10) ?? []
            let type = value(0x9F27)?.first ?? (results.count >= 7 && results[0] == 0x06 ? results[4] << 2 & 0xC0 : nil)
            guard type == 0x40 else { throw .mismatch }
        }
    }

    /// SHA-256 of counter and cryptogram, by which a card never says the same twice; `nil` without one of them.
    var cryptogram: [UInt8]? {
        guard let counter = value(0x9F36), let code = value(0x9F26), counter.count == 2, code.count == 8 else {
            return nil
        }
        return Array(SHA256.hash(data: counter + code))
    }

    /// The card's number in ASCII.
    var number: SecretBytes {
        SecretBytes(capacity: digits.count) { writer in for digit in digits { writer.append(digit | 0x30) } }
    }

    /// Which of a packager's lists for field 55 counts: by the provider's number of the application.
    var chipScheme: ChipRules.Scheme {
        let aid = value(0x4F) ?? value(0x84) ?? value(0x9F06) ?? []
        if aid.starts(with: [0xA0, 0, 0, 0, 0x03]) { return .visa }
        return aid.starts(with: [0xA0, 0, 0, 0, 0x04]) ? .mastercard : .other
    }
}

/// Makes what goes to the host. Fields 7 and 11, and 37 where it is missing, are set by the link.
struct HostMessages: Sendable {
    let packager: Packager
    /// Field 32; left out where empty.
    let acquirer: String

    static let processing: [AuthorizationRequest.Kind: String] = [
        .sale: "000000", .preauth: "000000", .refund: "200000",
    ]

    /// 0200 for a sale and a refund, 0100 for a preauthorisation, 0220 for what the card has approved.
    func payment(
        _ request: AuthorizationRequest, _ record: OpenedRecord, _ acceptor: Acceptor, now: Timestamp
    ) throws(RequestFault) -> ISOMessage {
        guard let processing = Self.processing[request.type],
            let type = MessageType(request.offline ? 220 : request.type == .preauth ? 100 : 200)
        else { throw .unsupported }
        var message = ISOMessage(type)
        message[2] = record.digits.map { $0 | 0x30 }
        message.set(3, processing)
        message.set(4, Self.padded(request.amount.value, 12))
        setTime(&message, record, now)
        if let expiry = record.expiry { message.set(14, expiry) }
        let rules = packager.requests
        message.set(22, request.entryMode == .contactlessEMV ? rules.chipEntry : rules.stripeEntry)
        if let sequence = record.sequence { message.set(23, "0" + sequence) }
        message.set(25, "00")
        setAcceptor(&message, acceptor)
        if let track = record.track2 { message.set(35, String(track.prefix { $0 != "F" })) }
        if request.offline { message.set(39, "00") }
        message.set(49, Self.padded(Int64(request.amount.currency.numeric), 3))
        if request.entryMode == .contactlessEMV {
            do throws(ChipDataError) {
                message[55] = try ChipData(record.emv, record.chipScheme, packager.chip).bytes
            } catch {
                throw .chipData(error)
            }
        } else if record.value(0x9F26) != nil, let chip = try? ChipData(record.emv, record.chipScheme, packager.chip) {
            // Magnetic-stripe mode with a cryptogram: the issuer can verify it. Without all that the host wants there is none to send.
            message[55] = chip.bytes
        }
        rules.complete(&message, request.offline ? .offline : Self.kinds[request.type] ?? .sale)
        return message
    }

    private static let kinds: [AuthorizationRequest.Kind: RequestRules.Kind] = [
        .sale: .sale, .preauth: .preauth, .refund: .refund,
    ]

    private func setTime(_ message: inout ISOMessage, _ record: OpenedRecord, _ now: Timestamp) {
        // Of the terminal where the read has it; the reversal then has the same.
        if let time = record.value(0x9F21), let date = record.value(0x9A), time.count == 3, date.count == 3 {
            message.set(12, Hex.string(time))
            message.set(13, Hex.string(date.dropFirst()))
        } else if let time = HostTime(now) {
            message.set(12, String(time.transmission.suffix(6)))
            message.set(13, String(time.transmission.prefix(4)))
        }
    }

    private func setAcceptor(_ message: inout ISOMessage, _ acceptor: Acceptor) {
        if !acceptor.category.isEmpty { message.set(18, acceptor.category) }
        if !acquirer.isEmpty { message.set(32, acquirer) }
        message.set(41, Self.filled(acceptor.terminal, 8))
        message.set(42, Self.filled(acceptor.acceptor, 15))
        if !acceptor.location.isEmpty { message.set(43, Self.filled(acceptor.location, 40)) }
    }

    // MARK: - What follows a payment

    /// 0220: takes what is held. The original's reference and approval code lead to it.
    func capture(_ original: ISOMessage, _ value: Int64, approval: String?) -> ISOMessage? {
        var message = original.keeping([2, 3, 12, 13, 14, 22, 23, 25, 32, 33, 37, 41, 42, 43, 49])
        guard let type = MessageType(220), let data = OriginalData(of: original) else { return nil }
        message.type = type
        message.set(4, Self.padded(value, 12))
        if let approval, approval.utf8.count <= 6 { message.set(38, Self.filled(approval, 6)) }
        message.set(39, "00")
        message.set(90, data.field90)
        packager.requests.complete(&message, .capture)
        return message
    }

    /// 0420 over the original amount, with what remains of it in field 95.
    func release(_ original: ISOMessage, remaining: Int64) -> ISOMessage? {
        guard let type = MessageType(420), let data = OriginalData(of: original),
            let amounts = UInt64(exactly: remaining).flatMap({ ReplacementAmounts(actual: $0) })
        else { return nil }
        var message = original.keeping(packager.reversal.fields)
        message.type = type
        if let text = packager.reversal.reasons[.customerCancel] { message.set(packager.reversal.reasonField, text) }
        message.set(90, data.field90)
        message.set(95, amounts.field95)
        packager.requests.complete(&message, .release)
        return message
    }

    /// 0200 with processing code 20 to the card of the payment.
    func refund(_ original: ISOMessage, _ value: Int64, now: Timestamp) -> ISOMessage? {
        guard let type = MessageType(200), let time = HostTime(now) else { return nil }
        var message = original.keeping([2, 14, 22, 25, 32, 33, 41, 42, 43, 49])
        message.type = type
        message.set(3, "200000")
        message.set(4, Self.padded(value, 12))
        message.set(12, String(time.transmission.suffix(6)))
        message.set(13, String(time.transmission.prefix(4)))
        packager.requests.complete(&message, .refund)
        return message
    }

    static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(max(0, number))
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    static func filled(_ text: String, _ count: Int) -> String {
        text + String(repeating: " ", count: max(0, count - text.utf8.count))
    }
}

extension HostTime {
    init?(_ time: Timestamp) {
        let parts = time.components
        self.init(
            year: parts.year, month: parts.month, day: parts.day, hour: parts.hour, minute: parts.minute,
            second: parts.second)
    }
}
