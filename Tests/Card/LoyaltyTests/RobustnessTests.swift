// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import TestSupport
import Testing

@Suite struct `Torn cards and damaged answers` {
    private func steps(_ name: String) throws -> Int {
        try Shop.read(name, Shop.request(presentations: 0)).commands.count
    }

    private func disturbed(_ name: String, _ disturbance: Disturbance) throws -> LoyaltyOutcome {
        try Shop.read(name, Shop.request(presentations: 0), disturbing: disturbance).outcome
    }

    @Test(arguments: WalletCatalogue.names)
    func `a card that leaves at any step ends in an outcome`(_ name: String) throws {
        for step in 0..<(try steps(name)) {
            let outcome = try disturbed(name, Disturbance(step: step, isLasting: true, kind: .lost))
            #expect(outcome.ending == .completed, "step \(step)")
            #expect(outcome.entries.contains { $0.status == .cardLost } || outcome.hasPass, "step \(step)")
        }
    }

    @Test(arguments: ["apple-pass", "google-pass", "member-tag"])
    func `a phone that comes back after being torn away is read to the end`(_ name: String) throws {
        for step in 0..<(try steps(name)) {
            let outcome = try Shop.read(name, Shop.request(), disturbing: Disturbance(step: step, kind: .lost)).outcome
            #expect(outcome.hasPass, "step \(step)")
        }
    }

    @Test(arguments: WalletCatalogue.names)
    func `every length of a cut answer ends in an outcome`(_ name: String) throws {
        for step in 0..<(try steps(name)) {
            for length in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
                let outcome = try disturbed(
                    name,
                    Disturbance(
                        step: step,
                        kind: .change { response in
                            ResponseAPDU(data: Array(response.data.prefix(length)), status: response.status)
                        }))
                #expect(outcome.ending == .completed)
            }
        }
    }

    @Test(arguments: ["apple-pass", "google-pass", "google-second-select", "google-chained", "member-tag"])
    func `every status word at every step ends in an outcome`(_ name: String) throws {
        let words: [UInt16] = [
            0x6100, 0x6287, 0x6340, 0x6700, 0x6982, 0x6984, 0x6985, 0x6A80, 0x6A82, 0x6A83, 0x6B00, 0x6D00, 0x9001,
            0x9002, 0x9100, 0x9101, 0x9102, 0x9200, 0x9201, 0x9203, 0x9300, 0x9302, 0x9400, 0x9402, 0x9406, 0x9500,
            0x9502, 0x0000, 0xFFFF,
        ]
        for step in 0..<(try steps(name)) {
            for word in words {
                let outcome = try disturbed(
                    name, Disturbance(step: step, isLasting: true, kind: .answer(StatusWord(word).bytes)))
                #expect(outcome.ending == .completed, "step \(step), \(StatusWord(word))")
            }
        }
    }

    @Test(arguments: ["apple-two-passes", "google-several", "google-chained", "member-tag"])
    func `flipped bytes at every step end in an outcome and never in another member's pass`(_ name: String) throws {
        var generator = SeededGenerator(seed: 5)
        let expected = try Shop.read(name, Shop.request(presentations: 0)).outcome.entries[0].pass?.member?.text
        for step in 0..<(try steps(name)) {
            for _ in 0..<20 {
                let position = Int(generator.next() % 256)
                let flip = UInt8.random(in: 1...255, using: &generator)
                let outcome = try disturbed(
                    name,
                    Disturbance(
                        step: step,
                        kind: .change { response in
                            guard !response.data.isEmpty else { return response }
                            var data = response.data
                            data[position % data.count] ^= flip
                            return ResponseAPDU(data: data, status: response.status)
                        }))
                #expect(outcome.ending == .completed)
                // Tags are not authenticated: anybody can write one.
                if name != "member-tag", outcome.hasPass, outcome.entries[0].status == .delivered {
                    #expect(outcome.entries[0].pass?.member?.text == expected)
                }
            }
        }
    }

    @Test(arguments: ["apple-pass", "google-pass", "member-tag"])
    func `random answers of every length end in an outcome`(_ name: String) throws {
        var generator = SeededGenerator(seed: 6)
        for step in 0..<(try steps(name)) {
            for _ in 0..<40 {
                let bytes = generator.bytes(Int(generator.next() % 256)) + [0x90, 0x00]
                let outcome = try disturbed(name, Disturbance(step: step, isLasting: true, kind: .answer(bytes)))
                #expect(outcome.ending == .completed)
            }
        }
    }

    @Test func `endless parts are cut off`() throws {
        let parts = Disturbance(
            step: 2, isLasting: true, kind: .answer([UInt8](repeating: 0xD4, count: 251) + [0x91, 0x00]))
        let played = try Shop.read("google-pass", Shop.request(presentations: 0), disturbing: parts)
        #expect(played.outcome.entries[0].status == .unreadable(.tooLarge))
        #expect(played.commands.count <= 3 + SmartTap.maximumParts)
    }

    @Test func `a passing failure is repeated as often as allowed, with the number raised by two`() throws {
        let failing = Disturbance(step: 1, isLasting: true, kind: .answer([0x92, 0x01]))
        let played = try Shop.read("google-pass", Shop.request(presentations: 0), disturbing: failing)
        #expect(played.outcome.entries[0].status == .transientFailure(0x9201))
        #expect(played.commands.map(\.ins) == [0xA4, 0x53, 0x53])
        let numbers = played.commands.dropFirst().map { $0.data[22] }
        #expect(numbers == [1, 3])
    }

    /// Changes the byte at `offset` of the answer to NEGOTIATE: session id at 12, status at 21.
    private func negotiation(_ offset: Int, _ value: UInt8) -> Disturbance {
        Disturbance(
            step: 1,
            kind: .change { response in
                var data = response.data
                data[offset] = value
                return ResponseAPDU(data: data, status: response.status)
            })
    }

    @Test func `a session status that asks to send again is followed`() throws {
        let played = try Shop.read("google-pass", Shop.request(presentations: 0), disturbing: negotiation(21, 0x08))
        #expect(played.outcome.hasPass)
        #expect(played.commands.map(\.ins) == [0xA4, 0x53, 0x53, 0x50])
    }

    @Test func `an answer for another session is refused`() throws {
        let played = try Shop.read("google-pass", Shop.request(presentations: 0), disturbing: negotiation(12, 0xFF))
        #expect(played.outcome.entries[0].status == .unreadable(.malformed))
    }

    @Test func `a key of the phone that is no point of the curve is refused`() throws {
        // The point's first byte: 05 is no prefix of a compressed point.
        let played = try Shop.read("google-pass", Shop.request(presentations: 0), disturbing: negotiation(28, 0x05))
        #expect(played.outcome.entries[0].status == .unreadable(.invalidPoint))
    }

    @Test func `answers out of turn end the machine`() throws {
        let now = TapInstant(nanoseconds: 0)
        let response = ResponseAPDU(data: [0x6F, 0x00], status: .success)
        func isFinished<Outcome>(_ step: TapStep<LoyaltySignal, Outcome>) -> Bool {
            if case .finished = step.action { true } else { false }
        }
        var read = LoyaltyRead(try Shop.request())
        #expect(isFinished(read.received(response, now: now)))
        var apple = VASRead(merchants: [], terminal: VASTerminal())
        #expect(isFinished(apple.received(response, now: now)))
        var google = SmartTapRead(
            collector: try Shop.collector(), terminal: SmartTapTerminal(), entropy: .fixed(try Shop.secrets()))
        #expect(isFinished(google.received(response, now: now)))
        #expect(isFinished(google.activated(CardActivation(), now: now)))
        var tag = Type4Read()
        #expect(isFinished(tag.received(response, now: now)))
        #expect(isFinished(tag.cardLost(now: now)))
    }

    @Test(arguments: ["apple-two-passes", "google-chained", "member-tag"])
    func `a stop at any step keeps what was read so far`(_ name: String) throws {
        var card = try Shop.card(name)
        var machine = LoyaltyRead(try Shop.request())
        let now = TapInstant(nanoseconds: 0)
        var step = machine.start(now: now)
        var count = 0
        while true {
            var copy = machine
            let stopped = copy.stop(now: now)
            #expect(stopped.ending == .stopped && stopped.entries.count == 2, "after \(count) steps")
            switch step.action {
            case .activate:
                card.powerOn()
                step = machine.activated(card.activation, now: now)
            case .transmit(let command):
                guard case .answer(let bytes) = card.answer(command.bytes) else { return }
                step = machine.received(try ResponseAPDU(bytes), now: now)
            case .finished(let outcome):
                #expect(outcome.hasPass)
                return
            }
            count += 1
        }
    }
}

@Suite struct `Random input to the parsers` {
    /// Mutations of `seeds` and pure noise, the same in every run.
    private func inputs(_ seeds: [[UInt8]], count: Int, seed: UInt64) -> [[UInt8]] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            guard !seeds.isEmpty, index % 4 != 0 else { return generator.bytes(Int(generator.next() % 300)) }
            var bytes = seeds[index % seeds.count]
            for _ in 0...Int(generator.next() % 4) where !bytes.isEmpty {
                let position = Int(generator.next() % UInt64(bytes.count))
                switch generator.next() % 4 {
                case 0: bytes[position] = UInt8(truncatingIfNeeded: generator.next())
                case 1: bytes.remove(at: position)
                case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: position)
                default: bytes.removeLast(Int(generator.next() % UInt64(bytes.count)))
                }
            }
            return bytes
        }
    }

    @Test func `NDEF messages: what is read lies within the input`() throws {
        let seeds = try LoyaltyVector.all("smarttap.objects").filter { $0.id.contains("obj") }.map {
            try $0.bytes("ndef")
        }
        var accepted = 0
        for bytes in inputs(seeds, count: 4_000, seed: 1) {
            guard let records = try? NDEF.records(of: bytes) else { continue }
            accepted += 1
            #expect(records.last?.payload.upperBound == bytes.count)
            for record in records { #expect(record.type.lowerBound >= 2 && record.payload.upperBound <= bytes.count) }
        }
        #expect(accepted > 0)
    }

    @Test func `Smart Tap objects and answers`() throws {
        let seeds = try LoyaltyVector.all("smarttap.objects").filter { $0.id.contains("obj") }.map {
            try $0.bytes("ndef")
        }
        var accepted = 0
        for bytes in inputs(seeds, count: 3_000, seed: 2) {
            if SmartTapObjectReader.objects(SecretBytes(bytes)) != nil { accepted += 1 }
        }
        #expect((1..<3_000).contains(accepted))
        let answers = try LoyaltyVector.all("smarttap.getdata.response").map { try $0.response().data }
        var understood = 0
        for bytes in inputs(answers, count: 3_000, seed: 3) {
            for kind in SmartTapResponse.Kind.allCases {
                guard let answer = SmartTapResponse(kind, bytes) else { continue }
                understood += 1
                #expect(answer.session.id.count == 8)
            }
        }
        #expect(understood > 0)
    }

    @Test func `answers to SELECT and GET VAS DATA`() throws {
        let seeds = try
            (LoyaltyVector.all("smarttap.ose") + LoyaltyVector.all("vas.select")
            + LoyaltyVector.all("vas.getdata.response")).map { try $0.response().data }
        var wallets = 0
        for bytes in inputs(seeds, count: 4_000, seed: 4) {
            switch OSE.application(ResponseAPDU(data: bytes, status: .success)) {
            case .apple, .google: wallets += 1
            case .other, .none, .malformed: break
            }
            if let passData = VASResponse(bytes)?.passData { #expect(passData.count <= bytes.count) }
            _ = SmartTapSelectResponse(bytes)
        }
        #expect(wallets > 0)
    }

    @Test func `cryptograms never open to anything but their pass`() throws {
        let vector = try LoyaltyVector.one("vas-dec-basic", kind: "vas.decrypt")
        let key = VASKey(try vector.privateKey("merchantPrivateKey"))
        let merchantID = try vector.bytes("merchantIdHash")
        let good = try vector.bytes("cryptogram")
        #expect(try VASCryptogram(good)?.open(trying: [key], merchantID: merchantID).get().message.count == 11)
        var tried = 0
        for bytes in inputs([good], count: 600, seed: 7) where bytes != good {
            guard let cryptogram = VASCryptogram(bytes) else { continue }
            tried += 1
            let opened = try? cryptogram.open(trying: [key], merchantID: merchantID).get()
            // The key id is not authenticated.
            if let opened { #expect(bytes.dropFirst(4) == good.dropFirst(4) && opened.message.count == 11) }
        }
        #expect(tried > 0)
    }

    @Test func `compressed data: the output keeps its limit`() throws {
        let seed = try LoyaltyVector.one("st-bundle-pm3-demo-pass", kind: "smarttap.objects").bytes("zlib")
        // What is changed fails its checksum at the end, if not before.
        for bytes in inputs([seed], count: 1_500, seed: 8) where bytes != seed {
            #expect(throws: InflateError.self) { try Inflate.zlib(SecretBytes(bytes), limit: 4_096) }
        }
        let whole = try Inflate.zlib(SecretBytes(seed), limit: 4_096)
        for limit in [0, 1, whole.count - 1] {
            #expect(throws: InflateError.self) { try Inflate.zlib(SecretBytes(seed), limit: limit) }
        }
        #expect(try Inflate.zlib(SecretBytes(seed), limit: whole.count).count == whole.count)
    }

    @Test func `Type 2 memories, capability containers and records' contents`() throws {
        let seeds = try LoyaltyVector.all("ndef.t2t.memory").map { Array(try $0.bytes("memory").prefix(64)) }
        for bytes in inputs(seeds, count: 3_000, seed: 9) {
            if let memory = try? Type2Memory(bytes), let message = memory.message {
                #expect(message.lowerBound >= 18 && message.upperBound <= bytes.count)
            }
            if let container = Type4CapabilityContainer(bytes) { #expect(container.maximumReadLength >= 15) }
            _ = try? NDEFContent.all(in: bytes.span)
        }
        let messages = try LoyaltyVector.all("ndef.t2t.memory").map { try $0.bytes("ndef") }
        var accepted = 0
        for bytes in inputs(messages, count: 2_000, seed: 10) {
            if let contents = try? NDEFContent.all(in: bytes.span) { accepted += contents.count }
        }
        #expect(accepted > 0)
    }

    @Test func `private keys in any encoding`() throws {
        let vector = try LoyaltyVector.one("vas-key-gen-1", kind: "vas.key")
        let pem = Array(try vector.text("pkcs8PEM").utf8)
        var accepted = 0
        for bytes in inputs([try vector.bytes("sec1DER"), pem], count: 1_500, seed: 11) {
            guard let key = try? P256PrivateKey(SecretBytes(bytes)) else { continue }
            accepted += 1
            #expect(key.publicKey.count == 65)
        }
        #expect(accepted > 0)
    }
}
