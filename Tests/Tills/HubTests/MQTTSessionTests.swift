// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Hub

@Suite("The way to a broker")
struct MQTTSessionTests {
    private static var settings: MQTTSession.Settings {
        var settings = MQTTSession.Settings(
            client: "hub", stateTopic: "nfc-tap/door/state", tapTopic: "nfc-tap/door/tag")
        settings.discovery = Discovery(prefix: "homeassistant", lane: "door")
        return settings
    }

    private func ready(now: UInt64 = 0) -> MQTTSession {
        var (session, first) = MQTTSession.open(Self.settings, now: now)
        #expect(first.first == 0x10)
        let announced = session.received([0x20, 2, 0, 0], now: now)
        #expect(announced.count == 2)
        #expect(session.received([0x40, 2, 0xFD, 0xEA], now: now) == [])
        #expect(session.received([0x40, 2, 0xFD, 0xE9], now: now) == [.ready])
        return session
    }

    @Test("H1: a tap is done when the broker has it, one at a time, and is never retained")
    func tap() {
        var session = ready()
        guard case .send(let bytes)? = session.publish("{}", number: 9, isRepeated: false, now: 0).first else {
            Issue.record("nothing sent")
            return
        }
        #expect(bytes.first == 0x32)
        #expect(session.publish("{}", number: 10, isRepeated: false, now: 0) == [])
        // Of another packet, and then of this one, in pieces.
        #expect(session.received([0x40, 2, 0, 11], now: 0) == [])
        #expect(session.received([0x40, 2], now: 0) == [])
        #expect(session.received([0, 10], now: 0) == [.done(9), .ready])
    }

    @Test("H1: a broker that refuses, babbles or falls silent is left")
    func faults() {
        for code in UInt8(1)...5 {
            var (session, _) = MQTTSession.open(Self.settings, now: 0)
            #expect(session.received([0x20, 2, 0, code], now: 0) == [.close(.refused(code))])
        }
        for (bytes, fault) in [
            ([0x30, 0], MQTTPacket.Fault.unexpected(0x30)), ([0x40, 3, 0, 1, 0], .malformed),
            ([0x20, 0x80, 1], .malformed),
        ] as [([UInt8], MQTTPacket.Fault)] {
            var (session, _) = MQTTSession.open(Self.settings, now: 0)
            #expect(session.received(bytes, now: 0) == [.close(.fault(fault))])
        }
        var (session, _) = MQTTSession.open(Self.settings, now: 0)
        #expect(session.clock(now: session.deadline - 1) == [])
        #expect(session.clock(now: session.deadline) == [.close(.silent)])
        var idle = ready()
        #expect(idle.clock(now: idle.deadline) == [.send([0xC0, 0])])
        #expect(idle.received([0xD0, 0], now: 30_000) == [])
        #expect(idle.clock(now: idle.deadline) == [.send([0xC0, 0])])
        #expect(idle.clock(now: idle.deadline) == [.close(.silent)])
    }

    /// MQTT 3.1.1 §4.4: what was not acknowledged is sent again on the next connection.
    @Test("H1: whatever the broker loses, each tap arrives, in order, repeated ones marked", arguments: UInt64(1)...30)
    func losses(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var outbox = Outbox()
        var arrived: [(payload: String, isRepeated: Bool)] = []
        for index in 0..<20 { _ = try outbox.add(id: "\(index)", body: "tap \(index)", wall: 0, now: 0) }
        var seen: Set<UInt64> = []
        while !outbox.waiting.isEmpty {
            var session = ready()
            connection: while case .send(let item) = outbox.turn(now: 0).turn {
                let effects = session.publish(
                    item.body, number: item.number, isRepeated: seen.contains(item.number), now: 0)
                seen.insert(item.number)
                guard case .send(let bytes)? = effects.first else { break }
                let fate = Int.random(in: 0..<4, using: &random)
                if fate > 0 { arrived.append((item.body, bytes[0] & 0x08 != 0)) }
                guard fate > 1 else {
                    _ = outbox.answered(item.number, .lost, now: 0)
                    break connection
                }
                let id = MQTTSession.packetID(item.number)
                let acknowledged = session.received([0x40, 2, UInt8(id >> 8), UInt8(id & 0xFF)], now: 0)
                #expect(acknowledged == [.done(item.number), .ready])
                _ = outbox.answered(item.number, .done, now: 0)
            }
        }
        var firsts: [String] = []
        for (payload, isRepeated) in arrived {
            // One that came before is marked.
            #expect(isRepeated || !firsts.contains(payload))
            if !firsts.contains(payload) { firsts.append(payload) }
        }
        #expect(firsts == (0..<20).map { "tap \($0)" })
    }

    @Test("H1: bytes at random trap nothing", arguments: UInt64(1)...20)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            var (session, _) = MQTTSession.open(Self.settings, now: 0)
            for _ in 0..<5 { _ = session.received(random.bytes(Int.random(in: 0...6, using: &random)), now: 0) }
        }
    }

    @Test("H1: names with wildcards are no topics")
    func topics() {
        for name in ["nfc-tap", "a/b"] { #expect(MQTTPacket.isTopic(name)) }
        for name in ["", "a+", "#", "a\u{0}b"] { #expect(!MQTTPacket.isTopic(name)) }
    }
}
