// SPDX-License-Identifier: Apache-2.0
import CNFC
import CardBytes
import Glibc
import ReaderCore
import ReaderNFC

/// One open device of libnfc as initiator: ISO/IEC 14443 types A and B at 106 kbit/s.
///
/// libnfc's calls are all made from one thread, with a time limit each.
///
/// Each `unsafe` is such a call, on a context and a device that are open from `init` to `deinit`, with memory that lives for
/// the length of the call.
@safe final class LibNFCDevice {
    /// What the chip says it is: `PN532 v1.6`.
    let chip: String
    private let context: OpaquePointer
    private let device: OpaquePointer
    private let claim: TerminalClaim?
    private var selected: LibNFCTarget?
    /// What the owner was told of the field last.
    private enum Told {
        case nothing, card, collision
    }

    private var told = Told.nothing
    /// What answers the search and cannot be selected, and when that was seen last.
    private var unreadable = UnreadableCard()
    private var refused: TapInstant?
    /// Failures of the line in a row. One is a damaged answer, and one that comes late spoils the next; at the limit the device is
    /// asked whether it is there.
    private var lineFailures = 0
    /// Frames broadcast so far.
    private var broadcasts: UInt64 = 0
    private static let mostLineFailures = 3
    /// So often is a device that seems to be gone set up anew, after a pause in microseconds in which a late answer may come.
    private static let tries = 4
    private static let lateAnswers: UInt32 = 100_000
    /// Pause between two looks for a card, in milliseconds.
    private static let pollPause: Int32 = 10
    /// How long a broadcast is listened for, in milliseconds.
    private static let broadcastTime: Int32 = 7
    /// More than any answer that the chip layer can hand over.
    private static let longestResponse = 512

    init(connection: String) throws(LibNFCError) {
        claim = try TerminalClaim(connection: connection)
        var context: OpaquePointer?
        unsafe nfc_init(&context)
        guard let context = unsafe context else { throw LibNFCError(.faulty, code: NFC_ESOFT) }
        guard let device = unsafe LibNFCDevice.opened(connection, context, claim) else {
            unsafe nfc_exit(context)
            throw LibNFCError(.detached, code: NFC_ENOTSUCHDEV)
        }
        unsafe self.context = unsafe context
        unsafe self.device = unsafe device
        chip = unsafe LibNFCDevice.chipName(of: device)
        claim?.refuseOthers()
        try check(setUp())
    }

    /// A line that is there may have a chip behind it that is slow for once, and libnfc takes no answer within half a second for
    /// none: that is asked again. What has no line of ours is opened once, because a scan of the bus is nothing to repeat.
    private static func opened(
        _ connection: String, _ context: OpaquePointer, _ claim: TerminalClaim?
    ) -> OpaquePointer? {
        for attempt in 1...tries {
            if let device = unsafe nfc_open(context, connection) { return unsafe device }
            guard let claim, !claim.isHungUp, attempt < tries else { break }
            usleep(lateAnswers)
        }
        return nil
    }

    /// - Returns: libnfc's error number, or 0.
    private func setUp() -> Int32 {
        let code = unsafe nfc_initiator_init(device)
        // Without this one select waits for ever.
        return code < 0 ? code : unsafe nfc_device_set_property_bool(device, NP_INFINITE_SELECT, false)
    }

    /// Waits until a card answers and selects it, after looking for others of both types.
    ///
    /// - Parameters:
    ///   - broadcast: a frame without CRC for every loop, or nothing.
    ///   - shouldEnd: waits that many milliseconds and says whether somebody wants the wait to end.
    /// - Throws: `.timedOut`, `.cancelled`, or what keeps the device from working.
    func poll(
        until deadline: TapInstant, broadcast: [UInt8] = [], shouldEnd: (Int32) -> Bool
    ) throws(LibNFCError) -> CardPresence {
        // Cards that an earlier search has halted stay so until the field has been off.
        release()
        try setField(on: true)
        while true {
            let cards = try cardsInField(broadcast: broadcast)
            if cards.count > 1, told != .collision {
                release()
                told = .collision
                return .collision
            }
            if cards.isEmpty, told != .nothing {
                told = .nothing
                return .emptied
            }
            if cards.count > 1 {
                // Told already: the search has halted them, and only a new field wakes them.
                try setField(on: false)
                try setField(on: true)
            } else if let card = cards.first {
                // Looking for others has halted the card; only a new field wakes it again on every chip.
                try setField(on: false)
                try setField(on: true)
                if let target = try select(card) {
                    selected = target
                    told = .card
                    unreadable = UnreadableCard()
                    return .card(target.activation)
                }
                if isToTell(at: monotonicNow()) { return .unreadable }
            }
            guard monotonicNow() < deadline else { throw LibNFCError(.timedOut) }
            guard !shouldEnd(LibNFCDevice.pollPause) else { throw LibNFCError(.cancelled) }
        }
    }

    /// A card that answers the search, as at the edge of the field, and then not. Whatever was not there for a second is put there
    /// anew.
    private func isToTell(at now: TapInstant) -> Bool {
        if let refused, now >= refused.advanced(byMilliseconds: 1_000) { unreadable = UnreadableCard() }
        refused = now
        return unreadable.isToTell(0, at: now)
    }

    /// Sends a C-APDU of 1…262 bytes and returns the R-APDU.
    ///
    /// - Throws: `.cardLost`, `.timedOut`, or `.faulty` with NFC_ECHIP for an R-APDU longer than the chip layer takes
    ///   and with NFC_EINVARG for a longer C-APDU.
    func transceive(_ command: [UInt8], milliseconds: UInt32) throws(LibNFCError) -> [UInt8] {
        guard (1...WorkerRequest.longestCommand).contains(command.count) else {
            throw LibNFCError(.faulty, code: NFC_EINVARG)
        }
        guard let selected, selected.activation.takesCommands == true else { throw LibNFCError(.cardLost) }
        var response = [UInt8](repeating: 0, count: LibNFCDevice.longestResponse)
        // 0 would wait for ever and a negative value for 350 ms.
        let timeout = Int32(clamping: max(1, milliseconds))
        let result = unsafe nfc_initiator_transceive_bytes(
            device, command, command.count, &response, response.count, timeout)
        guard result < 0 else {
            lineFailures = 0
            return Array(response.prefix(Int(result)))
        }
        if result == NFC_ETIMEOUT {
            // The late answer would be taken for that of the next command, so this card gets none any more.
            self.selected = nil
            _ = unsafe nfc_abort_command(device)
        }
        throw failure(result)
    }

    /// Without a card, a look at the device itself.
    func isCardPresent() throws(LibNFCError) -> Bool {
        guard selected != nil else {
            try setField(on: false)
            return false
        }
        let result = unsafe nfc_initiator_target_is_present(device, nil)
        guard result == NFC_EIO || result == NFC_ENOTSUCHDEV else {
            lineFailures = 0
            return result == NFC_SUCCESS
        }
        throw failure(result)
    }

    /// Ends work with the card and switches the field off. A device that cannot do so fails at the next request.
    func release() {
        if selected != nil { _ = unsafe nfc_initiator_deselect_target(device) }
        selected = nil
        _ = unsafe nfc_device_set_property_bool(device, NP_ACTIVATE_FIELD, false)
    }

    /// Waits until no card answers; the field is off then.
    ///
    /// - Throws: as `poll`.
    func awaitRemoval(until deadline: TapInstant, shouldEnd: (Int32) -> Bool) throws(LibNFCError) {
        release()
        while true {
            try setField(on: true)
            let cards = try cardsInField()
            try setField(on: false)
            if cards.isEmpty {
                told = .nothing
                return
            }
            guard monotonicNow() < deadline else { throw LibNFCError(.timedOut) }
            guard !shouldEnd(LibNFCDevice.pollPause) else { throw LibNFCError(.cancelled) }
        }
    }

    deinit {
        unsafe nfc_close(device)
        unsafe nfc_exit(context)
    }
}

/// For each `unsafe` holds what is said above.
extension LibNFCDevice {
    /// Every card that answers, halted by the search; two at most of each type.
    private func cardsInField(broadcast: [UInt8] = []) throws(LibNFCError) -> [LibNFCTarget] {
        let typeA = try list(NMT_ISO14443A)
        if typeA.isEmpty, !broadcast.isEmpty { try send(broadcast) }
        return try typeA + list(NMT_ISO14443B)
    }

    /// Sends a frame of type A that nobody answers.
    ///
    /// libnfc remembers the chip's bit framing and does not see that a failed select leaves it at the 7 bits of WUPA.
    /// There are two ways to whole bytes, and no hardware was at hand to say which works on which chip: they take turns,
    /// and a phone decides only after two or three loops.
    private func send(_ broadcast: [UInt8]) throws(LibNFCError) {
        try setProperties(raw: true)
        var answer = [UInt8](repeating: 0, count: 32)
        if LibNFCDevice.hasBitFraming(chip), !broadcasts.isMultiple(of: 2) {
            // The frame follows the WUPA of the search.
            try tolerate(unsafe pn53x_write_register(device, LibNFCDevice.bitFraming, 0x07, 0x00))
        } else {
            // A short frame of our own, which libnfc does remember: WUPA (ISO/IEC 14443-3 §6.4.1).
            let wakeUp: [UInt8] = [0x52]
            _ = unsafe nfc_initiator_transceive_bits(device, wakeUp, 7, nil, &answer, answer.count, nil)
        }
        broadcasts &+= 1
        let frame = broadcast + CRCA.bytes(of: broadcast)
        // Silence shows as NFC_ERFTRANS, which is the normal result.
        let result = unsafe nfc_initiator_transceive_bytes(
            device, frame, frame.count, &answer, answer.count, LibNFCDevice.broadcastTime)
        if result == NFC_EIO { try tolerate(result) }
        try setProperties(raw: false)
    }

    /// CIU_BitFraming of the PN53x (PN532 user manual §8.6.23); its low three bits count those of the last byte.
    private static let bitFraming: UInt16 = 0x633D

    /// Whether the register may be written: libnfc does not check what the device is.
    static func hasBitFraming(_ chip: String) -> Bool { chip.hasPrefix("PN53") }

    /// Raw frames carry their own CRC and are not wrapped; all others are the chip's business.
    private func setProperties(raw: Bool) throws(LibNFCError) {
        try tolerate(unsafe nfc_device_set_property_bool(device, NP_EASY_FRAMING, !raw))
        try tolerate(unsafe nfc_device_set_property_bool(device, NP_HANDLE_CRC, !raw))
    }

    private func list(_ type: nfc_modulation_type) throws(LibNFCError) -> [LibNFCTarget] {
        var targets = [nfc_target](repeating: nfc_target(), count: 2)
        let modulation = nfc_modulation(nmt: type, nbr: NBR_106)
        let count = unsafe nfc_initiator_list_passive_targets(device, modulation, &targets, targets.count)
        // The search takes every failure of a select for an empty field; only the last error tells them apart.
        let lastError = unsafe nfc_device_get_last_error(device)
        let code = count < 0 ? count : (count == 0 && lastError == NFC_EIO ? lastError : 0)
        try tolerate(code)
        return targets.prefix(Int(max(0, count))).map { LibNFCTarget($0) }
    }

    private func select(_ card: LibNFCTarget) throws(LibNFCError) -> LibNFCTarget? {
        var target = nfc_target()
        let count = unsafe nfc_initiator_select_passive_target(device, card.modulation, nil, 0, &target)
        if count == NFC_EIO { try tolerate(count) }
        return count > 0 ? LibNFCTarget(target) : nil
    }

    private func setField(on: Bool) throws(LibNFCError) {
        try tolerate(unsafe nfc_device_set_property_bool(device, NP_ACTIVATE_FIELD, on))
    }

    /// Goes on after a failure of the air, and after one of the line that may be a single one.
    private func tolerate(_ code: Int32) throws(LibNFCError) {
        guard code < 0 else {
            lineFailures = 0
            return
        }
        let error = failure(code)
        switch error.failure {
        case .cardLost: return
        case .timedOut: return
        case .cancelled, .detached, .inUse, .accessDenied, .faulty: throw error
        }
    }

    private func check(_ code: Int32) throws(LibNFCError) {
        if code < 0 { throw failure(code) }
    }

    private func failure(_ code: Int32) -> LibNFCError {
        let isLine = code == NFC_EIO || code == NFC_ETIMEOUT
        lineFailures = isLine ? lineFailures + 1 : 0
        return LibNFCError(exchange: code, isGone: isLine && isGone)
    }

    /// Whether the line has hung up, or the device has failed time and again and cannot be set up anew. One that was only slow can:
    /// it has forgotten its card then.
    private var isGone: Bool {
        if claim?.isHungUp == true { return true }
        guard lineFailures >= LibNFCDevice.mostLineFailures else { return false }
        selected = nil
        for _ in 0..<LibNFCDevice.tries {
            usleep(LibNFCDevice.lateAnswers)
            if claim?.isHungUp == true { return true }
            if setUp() >= 0 {
                lineFailures = 0
                return false
            }
        }
        return true
    }

    /// The first line of libnfc's report: `chip: PN532 v1.6`.
    private static func chipName(of device: OpaquePointer) -> String {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe nfc_device_get_information_about(device, &text) >= 0, let text = unsafe text else { return "" }
        defer { unsafe nfc_free(text) }
        let line = unsafe String(cString: text).split(separator: "\n").first ?? ""
        return line.hasPrefix("chip: ") ? String(line.dropFirst(6)) : ""
    }
}
