// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import EMVCrypto
import FuzzSupport
import Glibc

/// What is fuzzed with the real RSA, ECC and AES. The first byte of an input chooses the target.
enum CryptoTargets {
    /// Cards in software whose answers carry signatures, certificates or a secure channel, with their real keys.
    static let cards = [
        "visa-afl", "visa-fdda-00", "mastercard", "mastercard-phone", "amex", "jcb", "discover", "unionpay", "c8",
        "c8-phone",
    ]

    static func run(_ input: [UInt8]) {
        guard let target = input.first else { return }
        var fields = Fields(input.dropFirst())
        switch target % 8 {
        case 1: authenticate(&fields)
        case 2: localAuthentication(&fields)
        case 3: secureChannel(&fields)
        case 4: keys(&fields)
        case _: tap(&fields)
        }
    }

    private static let authentication = OfflineAuthentication.using(.test)
    private static let date = EMVDate(year: 2026, month: 6, day: 7)

    /// A card of the catalogue, some of whose answers are changed on their way: what follows a good certificate, a good
    /// signature or a good record is reached, as it never is with bytes that nobody signed.
    private static func tap(_ fields: inout Fields) {
        let number = Int(fields.byte())
        guard var card = CardCatalogue.card(named: cards[number % cards.count]) else { return }
        var machine = EntryPoint(
            configuration: number & 0x80 == 0 ? .test : offline,
            transaction: Transaction(
                amount: number & 0x40 == 0 ? 1_250 : 7_500, currency: 978, exponent: 2, country: 276, date: date,
                time: EMVTime(hour: 12, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([0x0102_0304]), authentication: authentication)
        let changes = (0..<8).map { _ in (step: fields.byte(), place: fields.byte(), mask: fields.byte()) }
        var step = machine.start(now: TapInstant(nanoseconds: 0))
        var presentations = 0
        var sent = 0
        for count in 0..<600 {
            let now = TapInstant(nanoseconds: UInt64(count) * 1_000_000)
            switch step.action {
            case .finished(let final):
                _ = final.outcome.dataRecord?.encoded
                return
            case .activate:
                presentations += 1
                if presentations > 4 {
                    _ = machine.stop(now: now)
                    return
                }
                card.powerOn()
                step = machine.activated(CardActivation(), now: now)
            case .transmit(let command):
                sent += 1
                guard case .answer(var answer) = card.answer(command.bytes) else {
                    step = machine.cardLost(now: now)
                    continue
                }
                for change in changes where change.mask != 0 && Int(change.step) == sent && !answer.isEmpty {
                    // Beyond 255 from the end, where long certificates end.
                    let place = Int(change.place) < answer.count ? Int(change.place) : answer.count - 1
                    answer[place] ^= change.mask
                }
                step =
                    (try? ResponseAPDU(answer)).map { machine.received($0, now: now) } ?? machine.cardLost(now: now)
            }
        }
        abort()
    }

    /// The test terminal with floor limits above the amounts and a type that may approve.
    private static let offline: TerminalConfiguration = {
        var configuration = TerminalConfiguration.test
        for index in configuration.combinations.indices { configuration.combinations[index].limits.floorLimit = 10_000 }
        configuration.terminalData =
            configuration.terminalData.filter { $0.tag != 0x9F35 } + [DataObject(0x9F35, [0x22])]
        return configuration
    }()

    private static let providers: [[UInt8]] = [
        [0xA0, 0, 0, 0, 0x03], [0xA0, 0, 0, 0, 0x04], [0xA0, 0, 0, 0, 0x25], [0xA0, 0, 0, 0x01, 0x52],
    ]

    /// Every field of a request is the card's.
    private static func authenticate(_ fields: inout Fields) {
        let method: AuthenticationRequest.Method =
            switch fields.byte() % 3 {
            case 0: .sda
            case 1: .dda(terminalDynamicData: fields.bytes())
            case _:
                .cda(
                    unpredictableNumber: fields.bytes(), transactionData: fields.bytes(),
                    cryptogramInformation: fields.byte())
            }
        let request = AuthenticationRequest(
            method: method, rid: providers[Int(fields.byte()) % providers.count], caIndex: fields.byte(),
            issuerCertificate: fields.bytes(), issuerExponent: fields.bytes(), issuerRemainder: fields.bytes(),
            iccCertificate: fields.bytes(), iccExponent: fields.bytes(), iccRemainder: fields.bytes(),
            signature: fields.bytes(), pan: fields.bytes(), staticData: fields.bytes(), date: date)
        _ = authentication.verify(request)
    }

    private static func localAuthentication(_ fields: inout Fields) {
        let request = LocalAuthenticationRequest(
            rid: fields.bytes(), caIndex: fields.byte(), issuerCertificate: fields.bytes(),
            iccCertificate: fields.bytes(), pan: fields.bytes(), staticDataHash: fields.bytes(),
            blindedKey: fields.bytes(), blindingFactor: fields.bytes(), date: date,
            time: EMVTime(hour: 12, minute: 0, second: 0))
        // Nothing that a fuzzer makes up is signed.
        if authentication.secureChannel.authenticate(request) == nil, request.issuerCertificate.count < 64 { abort() }
    }

    private static func secureChannel(_ fields: inout Fields) {
        let privateKey = fields.bytes()
        if let point = authentication.secureChannel.publicKey(privateKey), point.count != 64 { abort() }
        guard let keys = authentication.secureChannel.sessionKeys(privateKey, fields.bytes()) else { return }
        let counter = UInt16(fields.byte()) << 8 | UInt16(fields.byte())
        let data = fields.bytes()
        let sealed = keys.apply(counter, data)
        // Counter mode is its own inverse.
        if sealed.count != data.count || keys.apply(counter, sealed) != data { abort() }
        if keys.mac(data).count != 16 || keys.macPlus(data).count != 16 { abort() }
    }

    private static func keys(_ fields: inout Fields) {
        let (rid, index, modulus, exponent) = (fields.bytes(), fields.byte(), fields.bytes(), fields.bytes())
        let checksum = CAPublicKey.checksum(rid: rid, index: index, modulus: modulus, exponent: exponent)
        if let key = try? CAPublicKey(
            rid: rid, index: index, modulus: modulus, exponent: exponent, checksum: checksum, environment: .test),
            key.key.byteCount != modulus.count
        {
            abort()
        }
        _ = try? CAECCPublicKey(rid: rid, index: index, point: fields.bytes(), environment: .test)
    }
}

/// An input cut into fields: a length of one byte before each; behind the end there is nothing.
struct Fields {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func bytes() -> [UInt8] {
        let count = min(Int(byte()), rest.count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
