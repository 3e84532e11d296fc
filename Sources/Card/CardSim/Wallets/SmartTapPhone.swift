// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// An Android phone in software: Smart Tap with a real secure session, and a payment card behind it if it is given
/// one. It has a stored property for each thing that a test makes the phone do differently.
public struct SmartTapPhone: VirtualCard {
    /// What goes wrong, or is unusual, on purpose.
    public enum Oddity: Equatable, Sendable {
        case none
        /// 9300 to GET DATA for so many field sessions.
        case locked(sessions: Int)
        /// 9302: the phone shows its passes.
        case choiceShown
        /// 9201 to so many NEGOTIATEs before one succeeds.
        case transientFailures(Int)
        /// The bundle's authentication code is wrong.
        case wrongAuthenticationCode
        /// NEGOTIATE: SW 9000, but session status 05.
        case badSessionStatus
        /// 9101 or 9102 in place of 9000 or 9001.
        case notReadyForPayment
        /// The bundle is not encrypted.
        case plaintext
        /// Speaks versions 0002 to 0003 only.
        case otherVersions
        /// The nonce comes with the second SELECT only.
        case secondSelect
        /// 9406 to everything until the field was reset.
        case tooManyRequests
    }

    public var passes: [SmartTapPass]
    public var oddity: Oddity
    /// Of the collector whose passes it has.
    public var collectorID: UInt32
    /// Public keys by version: compressed points, 33 bytes. A version that is not there has expired.
    public var collectorKeys: [UInt32: [UInt8]]
    /// Longest answer before it is cut into parts, in bytes.
    public var partLength: Int
    /// Whether the record of who the customer is goes along.
    public var hasCustomerRecord = true
    public private(set) var pushes = 0

    private var payment: (any VirtualCard)?
    var random: WalletRandom
    /// Of the current field session.
    var ephemeral: P256.KeyAgreement.PrivateKey?
    var fieldSession = 0
    var transientLeft: Int
    var session: SmartTapPhoneSession?
    private var deviceNonce: [UInt8] = []
    private var pending: [UInt8] = []
    private var pendingStatus = StatusWord.success
    private var routesToPayment = false

    /// - Parameter script: values that the phone takes for its first random ones: in each field session the nonce (32
    ///   bytes) and the ephemeral private key (32), then one initialisation vector (12) for each GET DATA.
    public init(
        passes: [SmartTapPass], oddity: Oddity = .none, collectorID: UInt32 = WalletTestKeys.collectorID,
        collectorPrivateKeys: [UInt32: [UInt8]] = [2: WalletTestKeys.collectorPrivateKeyVersion2],
        partLength: Int = 251, payment: (any VirtualCard)? = nil, script: [[UInt8]] = []
    ) {
        random = WalletRandom(seed: "Smart Tap phone", script: script)
        self.passes = passes
        self.oddity = oddity
        self.collectorID = collectorID
        collectorKeys = collectorPrivateKeys.compactMapValues { scalar in
            (try? P256.Signing.PrivateKey(rawRepresentation: scalar)).map {
                Array($0.publicKey.compressedRepresentation)
            }
        }
        self.partLength = partLength
        self.payment = payment
        transientLeft = if case .transientFailures(let count) = oddity { count } else { 0 }
    }

    public var activation: CardActivation { .phone(session: fieldSession) }

    public mutating func powerOn() {
        fieldSession += 1
        if case .locked(let sessions) = oddity, fieldSession > sessions { oddity = .none }
        session = nil
        pending = []
        routesToPayment = false
        deviceNonce = random.bytes(32)
        ephemeral = random.key()
        payment?.powerOn()
    }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        if let answer = activation.answer(toPseudoAPDU: command) { return .answer(answer) }
        guard let apdu = try? CommandAPDU(command) else { return .answer(StatusWord.wrongLength.bytes) }
        if apdu.cla == 0x90 {
            routesToPayment = false
            let answer = smartTap(apdu)
            // Only the answer with the passes, and what is left of it, comes in parts.
            return .answer((apdu.ins == 0x50 || apdu.ins == 0xC0 ? cut(answer) : answer).bytes)
        }
        if apdu.cla == 0x00, apdu.ins == 0xA4 {
            routesToPayment = false
            if apdu.data == WalletNDEF.oseName { return .answer(directory + StatusWord.success.bytes) }
            if apdu.data == SmartTapPhone.application { return .answer(application + StatusWord.success.bytes) }
            routesToPayment = true
        }
        guard routesToPayment, var card = payment else { return .answer(StatusWord.fileNotFound.bytes) }
        let reply = card.answer(command)
        payment = card
        return reply
    }

    private mutating func smartTap(_ command: CommandAPDU) -> ResponseAPDU {
        if oddity == .tooManyRequests, fieldSession <= 1 { return ResponseAPDU(status: 0x9406) }
        switch command.ins {
        case 0x53:
            return negotiate(command.data, deviceNonce: deviceNonce)
        case 0x50:
            return getData(command.data)
        case 0x52:
            guard var open = session else { return ResponseAPDU(status: 0x9402) }
            pushes += 1
            open.sequence &+= 2
            session = open
            return ResponseAPDU(
                data: WalletNDEF.message([
                    WalletNDEF.record("psr", WalletNDEF.message([WalletNDEF.record("ses", open.record())]))
                ]), status: .success)
        case 0xC0:
            guard !pending.isEmpty else { return ResponseAPDU(status: 0x9405) }
            return ResponseAPDU(data: pending, status: pendingStatus)
        default:
            return ResponseAPDU(status: 0x9400)
        }
    }

    /// Cuts a long answer and keeps the rest for GET MORE.
    private mutating func cut(_ answer: ResponseAPDU) -> ResponseAPDU {
        pending = []
        guard answer.data.count > partLength else { return answer }
        pending = Array(answer.data[partLength...])
        pendingStatus = answer.status
        return ResponseAPDU(data: Array(answer.data[..<partLength]), status: 0x9100)
    }

    private static let application: [UInt8] = [0xA0, 0x00, 0x00, 0x04, 0x76, 0xD0, 0x00, 0x01, 0x11]

    private var versions: (minimum: [UInt8], maximum: [UInt8]) {
        oddity == .otherVersions ? ([0x00, 0x02], [0x00, 0x03]) : ([0x00, 0x00], [0x00, 0x01])
    }

    private var directory: [UInt8] {
        let versions = versions
        let skips = oddity != .secondSelect
        var fci = TLVWriter()
        fci.append(0x6F) { template in
            template.append(0x50, Array("AndroidPay".utf8))
            template.append(0xC0, [0x00, 0x01])
            template.append(0xC1, [payment == nil ? 0x0C : 0xCC, 0, 0, 0, 0, 0, 0x80, 0x80])
            if skips { template.append(0xC2, deviceNonce) }
            if let ephemeral { template.append(0xC3, Array(ephemeral.publicKey.compressedRepresentation)) }
            template.append(0xA5) { proprietary in
                proprietary.append(0xBF0C) { list in
                    list.append(0x61) { entry in
                        entry.append(0x4F, SmartTapPhone.application)
                        entry.append(0x87, [0x01])
                        entry.append(0x73) { details in
                            details.append(0xDF6D, versions.minimum)
                            details.append(0xDF4D, versions.maximum)
                            details.append(0xDF62, [skips ? 0x03 : 0x02])
                        }
                    }
                }
            }
        }
        return fci.bytes
    }

    private var application: [UInt8] {
        versions.minimum + versions.maximum
            + WalletNDEF.message([WalletNDEF.record("mdn", id: "mdn", [0x04] + deviceNonce)])
    }
}
