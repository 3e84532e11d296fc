// SPDX-License-Identifier: Apache-2.0
import Digits

/// What a till tells the terminal to do.
public enum ZVTCommand: Equatable, Sendable {
    case register(password: [UInt8], configuration: UInt8, currency: UInt64?, container: [ZVTObject]?)
    case logOff
    case sale(ZVTSale)
    case refund(password: [UInt8], ZVTSale)
    case status
    case abort
    /// - Parameter parts: bit 01: the result, too; bit 02: nothing to be printed.
    case lastReceipt(password: [UInt8]?, parts: UInt8)
    case reversal(password: [UInt8], receipt: UInt64, amount: Int64?)
    /// The sum is held until it is booked.
    case reservation(ZVTSale)
    /// - Parameter trace: of the reservation, where the till names it.
    case book(receipt: UInt64, trace: UInt64?, ZVTBooking, currency: UInt64?)
    case totals(password: [UInt8])
    case endOfDay(password: [UInt8])
    case openPreauthorisations
    /// - Parameter seconds: for a card to be presented; `nil` where the till names none.
    case readCard(seconds: UInt8?)
    /// Device, software and terminal id in letters: chargers ask for them after each connect.
    case identity
    /// The till names the terminal id that it counts on.
    case setTerminal(password: [UInt8], UInt64)
    /// Is answered and does nothing: diagnosis, initialisation, reset, the clock.
    case nothingToDo(password: [UInt8]?)

    /// Why a packet is not carried out: the code of the negative answer.
    public enum Refusal: UInt8, Error, Sendable, CaseIterable {
        case unknown = 0x83
        case cardData = 0xA5
        case currency = 0x6F
        case password = 0x37
        case busy = 0x9C
        case forbidden = 0x6B
    }

    public init(_ packet: ZVTPacket) throws(Refusal) {
        let content: ZVTContent
        do throws(ZVTFailure) { content = try ZVTContent(packet) } catch { throw .unknown }
        guard !content.fields.contains(where: { ZVTField.ofCards.contains($0.number) }) else { throw .cardData }
        let password = Array(content.head.prefix(3))
        let objects: [ZVTObject]
        do throws(ZVTFailure) { objects = try content.fields.objects() } catch { throw .unknown }
        switch packet.control {
        case 0x0600:
            let code = content.head.count == 6 ? BCD.decode(content.head.suffix(2)) : nil
            guard content.head.count == 4 || (content.head.count == 6 && code != nil) else { throw .unknown }
            let hasContainer = content.fields[number: 0x06] != nil
            self = .register(
                password: password, configuration: content.head[3], currency: code,
                container: hasContainer ? objects : nil)
        case 0x0602: self = .logOff
        case 0x0601: self = .sale(try ZVTSale(content.fields, objects))
        case 0x0631: self = .refund(password: password, try ZVTSale(content.fields, objects))
        case 0x0501: self = .status
        case 0x06B0: self = .abort
        case 0x0612, 0x0620:
            self = .lastReceipt(
                password: content.head.isEmpty ? nil : password, parts: content.fields[number: 0x03]?.value.first ?? 0)
        case 0x0630:
            guard let receipt = content.fields[number: 0x87]?.decimal else { throw .unknown }
            self = .reversal(password: password, receipt: receipt, amount: try ZVTSale.amount(content.fields))
        case 0x0610: self = .totals(password: password)
        case 0x0650: self = .endOfDay(password: password)
        case 0x0622: self = .reservation(try ZVTSale(content.fields, objects))
        case 0x06C0: self = .readCard(seconds: content.head.first)
        case 0x0623 where content.fields[number: 0x87]?.value == [0xFF, 0xFF]: self = .openPreauthorisations
        case 0x0623, 0x0624, 0x0625:
            guard let receipt = content.fields[number: 0x87]?.decimal else { throw .unknown }
            let sale = try ZVTSale(content.fields, objects)
            self = .book(
                receipt: receipt, trace: content.fields[number: 0x0B]?.decimal,
                try ZVTBooking(packet.control, sale.amount), currency: sale.currency)
        case 0x0FA1: self = .identity
        case 0x061B:
            guard let terminal = content.fields[number: 0x29]?.decimal else { throw .unknown }
            self = .setTerminal(password: password, terminal)
        case 0x0670, 0x0679, 0x0693: self = .nothingToDo(password: content.head.isEmpty ? nil : password)
        case 0x0618, 0x0691: self = .nothingToDo(password: nil)
        default: throw .unknown
        }
    }
}

/// What becomes of a reservation.
///
/// The sum of a partial reversal is what goes back to the holder, that of "book total" what the shop gets. Both come from
/// clients that public projects run against real terminals; the specification was not at hand.
public enum ZVTBooking: Equatable, Sendable {
    /// 06 23, partial reversal.
    case givenBack(Int64)
    /// 06 24, book total; all that is held where the till names no sum.
    case booked(Int64?)
    /// 06 25, reversal of the reservation.
    case nothing

    init(_ control: UInt16, _ amount: Int64?) throws(ZVTCommand.Refusal) {
        switch (control, amount) {
        case (0x0623, let amount?): self = .givenBack(amount)
        case (0x0624, let amount): self = .booked(amount)
        case (0x0625, _): self = .nothing
        default: throw .unknown
        }
    }

    /// What the shop gets; `nil` for more than is held.
    func amount(of held: Int64) -> Int64? {
        let amount: Int64
        switch self {
        case .givenBack(let part): amount = held - part
        case .booked(let part): amount = part ?? held
        case .nothing: amount = 0
        }
        return (0...held).contains(amount) ? amount : nil
    }
}

/// What stands in a sale, a refund or a reservation.
public struct ZVTSale: Equatable, Sendable {
    /// `nil` where the till named none.
    public let amount: Int64?
    public let currency: UInt64?
    /// Seconds that the till needs to hand out the goods, and how often it may ask for the result again.
    public let timeout: UInt8?
    public let repeats: UInt8?
    /// The till wants a card that was read earlier.
    public let wantsEarlierCard: Bool
    public let hasContainer: Bool
    /// A charger's own name for what it asks for, hexadecimal: object 1F63 within E9.
    public let token: String?
    /// A name that is longer is none.
    static let longestToken = 64

    init(_ fields: [ZVTField], _ objects: [ZVTObject]) throws(ZVTCommand.Refusal) {
        token = try ZVTSale.token(objects)
        amount = try ZVTSale.amount(fields)
        let code = fields[number: 0x49]
        currency = code?.decimal
        guard code == nil || currency != nil else { throw .unknown }
        timeout = fields[number: 0x01]?.value.first
        repeats = fields[number: 0x02]?.value.first
        wantsEarlierCard = fields[number: 0x19]?.value.first.map { $0 & 0x02 != 0 } ?? false
        hasContainer = fields[number: 0x06] != nil
    }

    private static func token(_ objects: [ZVTObject]) throws(ZVTCommand.Refusal) -> String? {
        guard let group = objects.first(where: { $0.tag == 0xE9 }) else { return nil }
        let parts: [ZVTObject]
        do throws(ZVTFailure) { parts = try group.objects() } catch { throw .unknown }
        guard let token = parts.first(where: { $0.tag == 0x1F63 })?.value, !token.isEmpty else { return nil }
        guard token.count <= longestToken else { throw .unknown }
        return Hex.string(token)
    }

    static func amount(_ fields: [ZVTField]) throws(ZVTCommand.Refusal) -> Int64? {
        guard let field = fields[number: 0x04] else { return nil }
        guard let amount = field.decimal else { throw .unknown }
        return Int64(clamping: amount)
    }

    /// How often the result may be sent, the first time included.
    var tries: Int { Int(repeats ?? 0) + 1 }
    /// How long the till may take for an answer to it.
    var answerTime: Int64 { max(5_000, Int64(timeout ?? 0) * 1_000) }

    /// Long enough for the goods, and never above what the daemon takes.
    var confirmWithin: Int {
        guard timeout != nil || repeats != nil else { return 120 }
        return min(600, 30 + Int(timeout ?? 30) * (tries + 1))
    }
}
