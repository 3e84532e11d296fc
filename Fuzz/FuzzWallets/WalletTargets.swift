// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import FuzzSupport
import Glibc
import Loyalty

/// What is fuzzed. The first byte of an input chooses the target.
enum WalletTargets {
    static let read: UInt8 = 0
    static let combined: UInt8 = 8
    static let parsers: [UInt8] = [3, 4, 5, 6, 7]

    static func run(_ input: [UInt8]) {
        guard let target = input.first else { return }
        let rest = Array(input.dropFirst())
        switch target % 9 {
        case 0: read(AnswerScript(input, from: 1))
        case 1: smartTap(AnswerScript(input, from: 1))
        case 2:
            var script = AnswerScript(input, from: 1)
            var machine = Type4Read()
            play(&machine, &script, card: phone)
        case 3: selections(rest)
        case 4: answers(rest)
        case 5: messages(rest)
        case 6: memories(rest)
        case 7: bundles(rest)
        default: CombinedTarget.run(AnswerScript(input, from: 1), on: phone)
        }
    }

    private static let phone = CardActivation(technology: .typeA, uid: [0x08, 1, 2, 3], sak: 0x20)

    private static func read(_ script: AnswerScript) {
        guard let request = Programmes.request else { abort() }
        var script = script
        var machine = LoyaltyRead(request)
        let outcome = play(&machine, &script, card: phone, observe: CombinedTarget.mustBeLoyalty)
        for entry in outcome.entries { _ = entry.pass?.member?.count }
    }

    private static func smartTap(_ script: AnswerScript) {
        guard let collector = Programmes.collector, let secrets = Programmes.secrets else { abort() }
        var script = script
        var machine = SmartTapRead(collector: collector, terminal: SmartTapTerminal(), entropy: .fixed(secrets))
        play(&machine, &script, card: phone)
    }

    private static func selections(_ bytes: [UInt8]) {
        switch OSE.application(ResponseAPDU(data: bytes, status: .success)) {
        case .apple, .google, .other, .none, .malformed: break
        }
        _ = SmartTapSelectResponse(bytes)
    }

    private static func answers(_ bytes: [UInt8]) {
        if let passData = VASResponse(bytes)?.passData, passData.count > bytes.count { abort() }
        for kind in SmartTapResponse.Kind.allCases { _ = SmartTapResponse(kind, bytes) }
        guard let key = Programmes.key, let cryptogram = VASCryptogram(bytes) else { return }
        _ = cryptogram.open(trying: [VASKey(key)], merchantID: [UInt8](repeating: 1, count: 32))
    }

    private static func messages(_ bytes: [UInt8]) {
        if let records = try? NDEF.records(of: bytes) {
            for record in records where record.payload.upperBound > bytes.count { abort() }
        }
        _ = try? NDEFContent.all(in: bytes.span)
        _ = SmartTapObjectReader.objects(SecretBytes(bytes))
    }

    private static func memories(_ bytes: [UInt8]) {
        if let memory = try? Type2Memory(bytes), let message = memory.message, message.upperBound > bytes.count {
            abort()
        }
        _ = Type4CapabilityContainer(bytes)
        _ = try? P256PrivateKey(SecretBytes(bytes))
    }

    private static func bundles(_ bytes: [UInt8]) {
        _ = SmartTapBundle(payload: bytes)
        if let output = try? Inflate.zlib(SecretBytes(bytes), limit: 4_096), output.count > 4_096 { abort() }
    }
}

/// The programmes of a shop, with the published test keys of the phones in software.
enum Programmes {
    static let key = try? P256PrivateKey(SecretBytes(WalletTestKeys.clubPrivateKey))

    static let collector: SmartTapCollector? = try? SmartTapCollector(
        id: WalletTestKeys.collectorID,
        keys: [
            SmartTapKey(
                version: 2, privateKey: P256PrivateKey(SecretBytes(WalletTestKeys.collectorPrivateKeyVersion2)))
        ], services: [.loyalty], acceptsUnencrypted: true)

    static let secrets: SmartTapSessionSecrets? = (try? P256PrivateKey(SecretBytes(WalletTestKeys.giftPrivateKey)))
        .flatMap {
            SmartTapSessionSecrets(
                ephemeralKey: $0, readerNonce: [UInt8](repeating: 0x5A, count: 32), sessionID: [1, 2, 3, 4, 5, 6, 7, 8])
        }

    static let request = request(.passes)
    static let combined = request(.passesAndPayment(stopOnPass: false))

    private static func request(_ purpose: LoyaltyRequest.Purpose) -> LoyaltyRequest? {
        guard let key, let collector, let secrets else { return nil }
        do {
            let club = try LoyaltyProgramme(
                id: "club", displayName: "Example Club", priority: 1, rereadDelayMilliseconds: 0,
                apple: VASMerchant(
                    passTypeIdentifier: WalletTestKeys.clubPassType, wish: .pass, keys: [VASKey(key)]),
                google: collector, tag: .uri(prefix: "https://loyalty.example/m/"), uid: UIDMembership())
            return try LoyaltyRequest(
                programmes: [club], purpose: purpose, entropy: .fixed(secrets), timestamps: nil,
                maximumPresentations: 2)
        } catch {
            return nil
        }
    }
}
