// SPDX-License-Identifier: Apache-2.0
import Codes

/// Packets of the terminal.
struct ZVTAnswer: Sendable {
    let terminal: UInt64
    let currency: CurrencyCode
    /// A charger's client stops reading at a field that it does not know, and gives a meaning of its own to a host's code.
    var isForCharger = false

    static let completion = ZVTPacket(0x060F)

    static func abort(_ code: UInt8) -> ZVTPacket { ZVTPacket(0x061E, byte: code) }

    private static func packet(_ control: UInt16, _ fields: [ZVTField?]) -> ZVTPacket {
        // Fields of a result are short: they fit a packet.
        ZVTPacket(control, fields.compactMap(\.self).bytes) ?? ZVTPacket(control)
    }

    // MARK: - Registration and status

    func registered(_ session: ZVTSession) -> ZVTPacket {
        let block = ZVTObject(0x26, [ZVTObject(0x0A, [0x06, 0xD3])])
        return Self.packet(
            0x060F,
            [
                ZVTField(0x19, [0]), ZVTField(0x29, decimal: terminal),
                session.namesCurrency ? ZVTField(0x49, decimal: UInt64(currency.numeric)) : nil,
                session.takesContainers ? ZVTField(0x06, session.takesBlocks ? block.bytes : []) : nil,
            ])
    }

    /// The version's text, its length in three digits, then the status: chargers refuse a status without a version.
    static func status(isBusy: Bool) -> ZVTPacket {
        let version = Array("nfc-tap \(Version.text)".utf8.prefix(99))
        let status: UInt8 = isBusy ? 0x9C : 0x00
        return ZVTPacket(0x060F, ZVTField.digits(version.count, 3) + version + [status])
            ?? ZVTPacket(0x060F, byte: status)
    }

    /// In letters without bitmaps: device 8, software 17, terminal id 8, and 4 for a temperature, which is not known here.
    func identity(of device: String) -> ZVTPacket {
        func padded(_ text: String, _ count: Int) -> [UInt8] {
            let letters = Array(text.utf8.prefix(count))
            return letters + Array(repeating: UInt8(ascii: " "), count: count - letters.count)
        }
        let digits = String(terminal)
        let id = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let letters = padded(device, 8) + padded("nfc-tap \(Version.text)", 17) + padded(id, 8) + padded("n/a", 4)
        return ZVTPacket(0x060F, letters) ?? Self.completion
    }

    /// One that is open; FF FF says that there is none.
    static func reservation(_ receipt: UInt64?) -> ZVTPacket {
        let number = receipt.flatMap { ZVTField(0x87, decimal: $0) }?.value ?? [0xFF, 0xFF]
        return ZVTPacket(0x061E, [0xB8, 0x87] + number) ?? abort(0xB8)
    }

    /// Applications of a payment card, and nothing by which it could be known again: a client that finds a UID takes the card for
    /// a member's.
    static func card(aid: [UInt8]) -> ZVTPacket {
        packet(0x040F, [ZVTField(0x27, [0]), ZVTField(0x06, ZVTObject(0x60, [ZVTObject(0x43, aid)]).bytes)])
    }

    /// The UID in ten bytes, zeros in front, and the type of a card of ISO 14443-4 that was asked for nothing.
    static func card(uid: [UInt8]) -> ZVTPacket {
        let bytes = Array(repeating: 0, count: max(0, 10 - uid.count)) + uid.suffix(10)
        let objects = [ZVTObject(0x4C, bytes), ZVTObject(0x1F4C, [0x01])]
        return packet(0x040F, [ZVTField(0x27, [0]), ZVTField(0x06, objects.flatMap(\.bytes))])
    }

    static func progress(_ progress: TillProgress, withText: Bool) -> ZVTPacket {
        let code = Self.code(of: progress.step)
        guard withText, let text = progress.text else { return ZVTPacket(0x04FF, byte: code) }
        let lines = ZVTObject(0x24, [ZVTObject(0x07, Array(ZVTText.codePage437(text).prefix(200)))])
        let data = [code, 0x01] + (ZVTField(0x06, lines.bytes)?.bytes ?? [])
        return ZVTPacket(0x04FF, data) ?? ZVTPacket(0x04FF, byte: code)
    }

    private static func code(of step: TillProgress.Step) -> UInt8 {
        switch step {
        case .cardAwaited: 0x0A
        case .cardDetected: 0x0E
        case .cardNotReadable: 0x0C
        case .removeCard: 0x0B
        case .unlockPhone: 0x01
        case .authorising: 0x17
        case .declined: 0x1D
        case .cancelled: 0x0D
        case .unknown: 0x04
        case .reversed: 0x05
        case .other: 0xFF
        }
    }

    // MARK: - Results

    /// In the order in which terminals send it: old tills depend on it.
    func paid(_ attempt: Attempt, _ approval: TillApproval, _ session: ZVTSession) -> ZVTPacket {
        let time = approval.time
        return Self.packet(
            0x040F,
            [
                ZVTField(0x27, [0]), ZVTField(0x04, decimal: UInt64(clamping: approval.amount)),
                ZVTField(0x0B, decimal: attempt.trace),
                time.flatMap(Self.clock), time.flatMap(Self.date),
                isForCharger ? nil : ZVTField(0x19, [0x60]), approval.maskedCard.flatMap(Self.card),
                ZVTField(0x29, decimal: terminal), approval.authorisation.flatMap(Self.authorisation),
                session.namesCurrency ? ZVTField(0x49, decimal: UInt64(currency.numeric)) : nil,
                ZVTField(0x87, decimal: attempt.receipt), approval.network.flatMap(Self.cardType),
                approval.network.flatMap { ZVTField(0x8B, Array($0.rawValue.utf8) + [0]) },
                session.takesContainers && !isForCharger ? Self.container(approval) : nil,
            ])
    }

    /// What has followed an earlier payment: its reversal, or the booking of a reservation.
    ///
    /// - Parameters:
    ///   - number: of what followed, which has a receipt of its own.
    ///   - time: when it was done, where that is known.
    func followed(
        _ attempt: Attempt, number: UInt64, amount: Int64, time: TillTime? = nil, _ session: ZVTSession
    ) -> ZVTPacket {
        Self.packet(
            0x040F,
            [
                ZVTField(0x27, [0]), ZVTField(0x04, decimal: UInt64(clamping: amount)),
                ZVTField(0x0B, decimal: Attempt.trace(of: number)),
                time.flatMap(Self.clock), time.flatMap(Self.date), ZVTField(0x29, decimal: terminal),
                isForCharger ? nil : ZVTField(0x37, decimal: attempt.trace),
                session.namesCurrency ? ZVTField(0x49, decimal: UInt64(currency.numeric)) : nil,
                ZVTField(0x87, decimal: Attempt.receipt(of: number)),
            ])
    }

    /// The sum is what the shop gets.
    func booked(_ attempt: Attempt, _ session: ZVTSession) -> ZVTPacket {
        guard let booking = attempt.booking, booking.phase == .done else { return notPaid(0xB5) }
        return followed(attempt, number: booking.number, amount: booking.amount, time: booking.time, session)
    }

    func reversed(_ attempt: Attempt, _ session: ZVTSession) -> ZVTPacket {
        guard let number = attempt.reversal, attempt.phase == .reversed else { return notPaid(0xB5) }
        return followed(attempt, number: number, amount: attempt.order.amount, session)
    }

    func notPaid(_ code: UInt8, text: String? = nil) -> ZVTPacket {
        let line = text.flatMap { ZVTField(0x3C, Array(ZVTText.codePage437($0).prefix(200))) }
        return Self.packet(0x040F, [ZVTField(0x27, [code]), ZVTField(0x29, decimal: terminal), line])
    }

    /// The code of a refusal, in the meaning that this till gives to it.
    func code(of refusal: TillRefusal) -> UInt8 {
        guard isForCharger else { return Self.code(of: refusal) }
        switch (refusal.reason, refusal.hostCode) {
        case (.declined, 51?), (.callIssuer, 51?): return 0x71
        // The issuer wants a PIN, or another interface where one can be given.
        case (.declined, 65?), (.declined, 70?), (.otherInterface, _): return 0xEC
        case (.declined, 61?): return 0xC3
        case (.declined, 54?): return 0x78
        case (.declined, 41?), (.declined, 43?), (.declined, 62?): return 0xC5
        case (.declined, _), (.callIssuer, _): return 0x05
        case (_, _): return Self.code(of: refusal)
        }
    }

    /// The code of a refusal. A host's code goes out as a number; those from A0 on would read as a success and never do.
    static func code(of refusal: TillRefusal) -> UInt8 {
        switch refusal.reason {
        case .declined, .callIssuer:
            refusal.hostCode.flatMap { (1...99).contains($0) ? $0 : nil } ?? 0x05
        case .notPermitted: 0x05
        case .notAccepted: 0x7A
        case .expiredCard: 0x78
        case .limitExceeded: 0xC3
        case .otherInterface: 0x72
        case .cancelledByCustomer, .cancelledByOperator, .deadline, .takenBack: 0x6C
        case .busy: 0x9C
        case .readerGone: 0xE2
        case .serviceAway: 0xA3
        case .hostTimeout: 0xA1
        case .currency: 0x6F
        case .amount: 0xC8
        case .failed: 0xFF
        }
    }

    private static func clock(_ time: TillTime) -> ZVTField? {
        ZVTField(0x0C, decimal: pairs([time.hour, time.minute, time.second]))
    }

    private static func date(_ time: TillTime) -> ZVTField? {
        ZVTField(0x0D, decimal: pairs([time.month, time.day]))
    }

    private static func pairs(_ numbers: [UInt8]) -> UInt64 { numbers.reduce(0) { $0 * 100 + UInt64(min($1, 99)) } }

    /// Two digits a byte: E is a hidden one, F fills up.
    private static func card(_ masked: String) -> ZVTField? {
        var nibbles = masked.prefix(19).map { UInt8(String($0)) ?? 0x0E }
        if !nibbles.count.isMultiple(of: 2) { nibbles.append(0x0F) }
        return ZVTField(
            0x22, stride(from: 0, to: nibbles.count - 1, by: 2).map { nibbles[$0] << 4 | nibbles[$0 + 1] })
    }

    private static func authorisation(_ code: String) -> ZVTField? {
        let letters = ZVTText.codePage437(code)
        guard letters.count <= 8 else { return nil }
        return ZVTField(0x3B, letters + Array(repeating: 0, count: 8 - letters.count))
    }

    private static func cardType(_ network: TillNetwork) -> ZVTField? {
        let code: UInt8? =
            switch network {
            case .girocard: 0x05
            case .mastercard: 0x06
            case .amex: 0x08
            case .visa: 0x0A
            case .diners: 0x0C
            case .vPay: 0x0D
            case .jcb: 0x0E
            case .maestro: 0x2E
            case .unionPay: 0xC6
            case .discover: 0xE8
            case .cartesBancaires: nil
            }
        return code.flatMap { ZVTField(0x8A, [$0]) }
    }

    private static func container(_ approval: TillApproval) -> ZVTField? {
        var objects: [ZVTObject] = []
        if let aid = approval.aid, let bytes = ZVTText.hexadecimal(aid), (5...16).contains(bytes.count) {
            objects.append(ZVTObject(0x60, [ZVTObject(0x43, bytes)]))
        }
        objects.append(ZVTObject(0x1F12, [0x02]))
        return ZVTField(0x06, objects.flatMap(\.bytes))
    }

    // MARK: - Receipts

    static func prints(_ receipts: [TillReceipt], _ session: ZVTSession) -> [ZVTPacket] {
        guard session.printsReceipts else { return [] }
        return receipts.flatMap { session.takesBlocks ? [block($0)].compactMap(\.self) : lines($0) }
    }

    private static func lines(_ receipt: TillReceipt) -> [ZVTPacket] {
        receipt.lines.map { ZVTPacket(0x06D1, [0x00] + ZVTText.line($0).prefix(200)) }.compactMap(\.self)
            + [ZVTPacket(0x06D1, byte: 0x81)]
    }

    private static func block(_ receipt: TillReceipt) -> ZVTPacket? {
        let lines = receipt.lines.map { ZVTObject(0x07, Array(ZVTText.line($0).prefix(200))) }
        let objects = [ZVTObject(0x1F07, [receipt.copy.rawValue]), ZVTObject(0x25, lines + [ZVTObject(0x09, [0x81])])]
        return ZVTField(0x06, objects.flatMap(\.bytes)).flatMap { ZVTPacket(0x06D3, $0.bytes) }
    }

    // MARK: - Totals

    /// Sums by card, what was given back subtracted. A sum that the form cannot say is left out; it is never bent.
    func totals(_ turnover: Turnover) -> ZVTPacket {
        var counts = [Int64](repeating: 0, count: 7)
        var sums = counts
        var total: Int64? = 0
        func added(_ sum: Int64, _ amount: Int64) -> Int64? {
            let (next, overflow) = sum.addingReportingOverflow(amount)
            return overflow || amount == .max ? nil : next
        }
        for sum in turnover.sums {
            let group = Self.group(sum.network)
            counts[group] += sum.count
            sums[group] = added(sums[group], sum.amount) ?? .min
            total = total.flatMap { added($0, sum.amount) }
        }
        var single: [UInt8] = []
        if let first = turnover.first, let last = turnover.last, zip(counts, sums).allSatisfy({ $0 < 256 && $1 >= 0 }),
            let ends = ZVTField(0x87, decimal: Attempt.receipt(of: first)),
            let end = ZVTField(0x87, decimal: Attempt.receipt(of: last))
        {
            single = ends.value + end.value
            for (count, sum) in zip(counts, sums) {
                let amount = ZVTField(0x04, decimal: UInt64(clamping: sum))
                single += [UInt8(truncatingIfNeeded: count)] + (amount?.value ?? [])
            }
        }
        return Self.packet(
            0x040F,
            [
                ZVTField(0x27, [0]), total.flatMap { $0 < 0 ? nil : ZVTField(0x04, decimal: UInt64($0)) },
                single.count == 53 ? ZVTField(0x60, single) : nil,
            ])
    }

    private static func group(_ network: TillNetwork?) -> Int {
        switch network {
        case .girocard: 0
        case .jcb: 1
        case .mastercard: 2
        case .amex: 3
        case .visa: 4
        case .diners: 5
        case .vPay, .maestro, .unionPay, .discover, .cartesBancaires, nil: 6
        }
    }
}
