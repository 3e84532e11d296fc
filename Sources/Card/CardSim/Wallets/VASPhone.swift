// SPDX-License-Identifier: Apache-2.0
public import CardBytes
internal import Crypto

/// An iPhone in software: Apple VAS with real encryption, and a payment card behind it if it is given one.
public struct VASPhone: VirtualCard {
    public struct Pass: Sendable {
        public var passTypeIdentifier: String
        /// UTF-8, at most 64 bytes are sent.
        public var message: String
        /// Of the key that the pass is sealed to: 32 bytes. A real phone has only the public half.
        public var merchantPrivateKey: [UInt8]

        public init(passTypeIdentifier: String, message: String, merchantPrivateKey: [UInt8]) {
            self.passTypeIdentifier = passTypeIdentifier
            self.message = message
            self.merchantPrivateKey = merchantPrivateKey
        }
    }

    public var passes: [Pass]
    /// So many field sessions pass before the user unlocks the phone.
    public var lockedSessions: Int
    /// The user has to choose on the phone first (6984).
    public var needsChoice: Bool
    /// Tag 9F21.
    public var version: [UInt8]
    /// The phone answers requests for its pass with 6A83 but takes addresses.
    public var takesSignUpOnly: Bool
    /// Seconds since 2001-01-01T00:00:00Z by the phone's clock.
    public var clock: UInt32
    /// Addresses that were pushed to the phone.
    public private(set) var receivedURLs: [String] = []

    private var payment: (any VirtualCard)?
    private var random = WalletRandom(seed: "VAS phone")
    private var session = 0
    private var isSelected = false
    /// A phone that gave passes routes to its payment card only after the field was reset.
    private var wasAsked = false
    private var routesToPayment = false

    public init(
        passes: [Pass], lockedSessions: Int = 0, needsChoice: Bool = false, version: [UInt8] = [0x01, 0x00],
        takesSignUpOnly: Bool = false, clock: UInt32 = 812_345_678, payment: (any VirtualCard)? = nil
    ) {
        self.passes = passes
        self.lockedSessions = lockedSessions
        self.needsChoice = needsChoice
        self.version = version
        self.takesSignUpOnly = takesSignUpOnly
        self.clock = clock
        self.payment = payment
    }

    public var activation: CardActivation { .phone(session: session) }

    public mutating func powerOn() {
        session += 1
        if session > 1, lockedSessions > 0 { lockedSessions -= 1 }
        isSelected = false
        wasAsked = false
        routesToPayment = false
        payment?.powerOn()
    }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        if let answer = activation.answer(toPseudoAPDU: command) { return .answer(answer) }
        guard let apdu = try? CommandAPDU(command) else { return .answer(StatusWord.wrongLength.bytes) }
        if apdu.cla == 0x00, apdu.ins == 0xA4, apdu.data == WalletNDEF.oseName {
            isSelected = true
            routesToPayment = false
            return .answer((selection + StatusWord.success.bytes))
        }
        if apdu.cla == 0x00, apdu.ins == 0xA4 {
            guard !wasAsked, lockedSessions == 0, payment != nil else { return .answer(StatusWord.fileNotFound.bytes) }
            isSelected = false
            routesToPayment = true
        }
        if routesToPayment, var card = payment {
            let reply = card.answer(command)
            payment = card
            return reply
        }
        guard isSelected, apdu.cla == 0x80, apdu.ins == 0xCA else {
            return .answer(StatusWord.instructionNotSupported.bytes)
        }
        wasAsked = true
        return .answer(getVASData(apdu).bytes)
    }

    private var selection: [UInt8] {
        var capabilities: UInt8 = 0x1E
        if payment != nil { capabilities |= 0x20 }
        var fci = TLVWriter()
        fci.append(0x6F) { template in
            template.append(0x50, Array("ApplePay".utf8))
            template.append(0x9F21, version)
            template.append(0x9F24, [0xDE, 0xAD, 0xC0, 0xDE])
            template.append(0x9F23, [0x00, 0x00, 0x00, capabilities])
        }
        return fci.bytes
    }

    private mutating func getVASData(_ command: CommandAPDU) -> ResponseAPDU {
        guard command.p1 == 0x01, command.p2 <= 0x01 else { return ResponseAPDU(status: 0x6B00) }
        guard let nodes = try? TLV.children(command.data) else { return ResponseAPDU(status: 0x6A80) }
        func value(_ tag: Tag) -> [UInt8]? { nodes.first { $0.tag == tag }.map { Array(command.data[$0.value]) } }
        guard value(0x9F22) == [0x01, 0x00] else { return ResponseAPDU(status: 0x6340) }
        guard let capabilities = value(0x9F26), capabilities.count == 4, capabilities[1] & 0x80 != 0 else {
            return ResponseAPDU(status: 0x6A80)
        }
        if lockedSessions > 0 { return ResponseAPDU(status: 0x6287) }
        if needsChoice { return ResponseAPDU(status: 0x6984) }
        let url = value(0x9F29).map { String(decoding: $0, as: UTF8.self) }
        if command.p2 == 0x00 {
            guard let url else { return ResponseAPDU(status: 0x6A80) }
            receivedURLs.append(url)
            return ResponseAPDU(data: [0x70, 0x03, 0x9F, 0x2A, 0x00], status: .success)
        }
        guard let merchant = value(0x9F25), merchant.count == 32 else { return ResponseAPDU(status: 0x6A80) }
        let pass = passes.first { Array(SHA256.hash(data: Array($0.passTypeIdentifier.utf8))) == merchant }
        guard let pass, !takesSignUpOnly, let cryptogram = seal(pass, merchantID: merchant) else {
            if let url { receivedURLs.append(url) }
            return ResponseAPDU(status: 0x6A83)
        }
        var template = TLVWriter()
        template.append(0x70) { body in
            body.append(0x9F2A, [])
            body.append(0x9F27, cryptogram)
        }
        return ResponseAPDU(data: template.bytes, status: .success)
    }

    private mutating func seal(_ pass: Pass, merchantID: [UInt8]) -> [UInt8]? {
        let time = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: clock >> ($0 as UInt32)) }
        return VASSeal.cryptogram(
            plaintext: time + pass.message.utf8.prefix(64), merchantPrivateKey: pass.merchantPrivateKey,
            merchantID: merchantID, ephemeralPrivateKey: Array(random.key().rawRepresentation))
    }
}
