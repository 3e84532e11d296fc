// SPDX-License-Identifier: Apache-2.0
/// One connection to a broker, as a machine without I/O: sign-on, what is retained, one tap at a time, pings. Times in milliseconds of a
/// clock that nobody sets.
package struct MQTTSession: Sendable {
    /// Where and as whom.
    package struct Settings: Equatable, Sendable {
        package var client: String
        package var user: String?
        package var password: String?
        /// Told `online` and `offline`, retained.
        package var stateTopic: String
        package var tapTopic: String
        /// Discovery of Home Assistant; `nil` for none.
        package var discovery: Discovery?

        package init(client: String, stateTopic: String, tapTopic: String) {
            (self.client, self.stateTopic, self.tapTopic) = (client, stateTopic, tapTopic)
        }
    }

    package enum Effect: Equatable, Sendable {
        case send([UInt8])
        /// A tap can be published now.
        case ready
        /// The broker has the item.
        case done(UInt64)
        /// The connection is of no use any more.
        case close(End)
    }

    package enum End: Error, Equatable, Sendable {
        /// CONNACK's code: 1 version, 2 client id, 3 unavailable, 4 user or password, 5 not authorised.
        case refused(UInt8)
        case silent
        case fault(MQTTPacket.Fault)
    }

    package static let keepAliveSeconds: UInt16 = 30
    /// Milliseconds for each answer.
    static let patience: UInt64 = 15_000
    private static let stateID: UInt16 = 65_001
    private static let discoveryID: UInt16 = 65_002

    private enum Phase: Equatable, Sendable {
        case signingOn
        case announcing(Set<UInt16>)
        case idle
        case publishing(UInt64)
    }

    private let settings: Settings
    private var phase = Phase.signingOn
    private var unread: [UInt8] = []
    /// An answer must be here by then.
    private var limit: UInt64?
    private var pingAt: UInt64
    private var awaitsPong = false

    /// - Returns: the session, and what to send first.
    package static func open(_ settings: Settings, now: UInt64) -> (MQTTSession, [UInt8]) {
        let bytes = MQTTPacket.connect(
            client: settings.client, will: .init(topic: settings.stateTopic, payload: "offline"), user: settings.user,
            password: settings.password, keepAlive: keepAliveSeconds)
        return (MQTTSession(settings, now: now), bytes)
    }

    private init(_ settings: Settings, now: UInt64) {
        self.settings = settings
        limit = now &+ Self.patience
        pingAt = .max
    }

    /// When `clock` is to be called.
    package var deadline: UInt64 { min(limit ?? .max, pingAt) }

    package mutating func received(_ bytes: [UInt8], now: UInt64) -> [Effect] {
        unread += bytes
        var effects: [Effect] = []
        do throws(MQTTPacket.Fault) {
            while let packet = try MQTTPacket.next(&unread) { effects += take(packet, now) }
        } catch {
            effects.append(.close(.fault(error)))
        }
        return effects
    }

    private mutating func take(_ packet: MQTTPacket.Incoming, _ now: UInt64) -> [Effect] {
        switch (packet, phase) {
        case (.connected(let code), .signingOn):
            guard code == 0 else { return [.close(.refused(code))] }
            return announce(now)
        case (.acknowledged(let id), .announcing(var open)):
            guard open.remove(id) != nil else { return [] }
            guard open.isEmpty else {
                phase = .announcing(open)
                return []
            }
            phase = .idle
            rest(now)
            return [.ready]
        case (.acknowledged(let id), .publishing(let number)) where id == Self.packetID(number):
            phase = .idle
            rest(now)
            return [.done(number), .ready]
        // An acknowledgement of an earlier connection's packet.
        case (.acknowledged, _): return []
        case (.pong, _):
            awaitsPong = false
            if phase == .idle { rest(now) }
            return []
        case (.connected, _): return [.close(.fault(.unexpected(0x20)))]
        }
    }

    private mutating func announce(_ now: UInt64) -> [Effect] {
        var effects: [Effect] = []
        var open: Set = [Self.stateID]
        if let discovery = settings.discovery {
            open.insert(Self.discoveryID)
            effects.append(
                .send(
                    MQTTPacket.publish(
                        topic: discovery.topic, payload: discovery.payload(taps: settings.tapTopic),
                        id: Self.discoveryID, isRetained: true, isRepeated: false)))
        }
        effects.append(
            .send(
                MQTTPacket.publish(
                    topic: settings.stateTopic, payload: "online", id: Self.stateID, isRetained: true,
                    isRepeated: false)))
        phase = .announcing(open)
        limit = now &+ Self.patience
        return effects
    }

    /// Publishes a tap: never retained. Home Assistant would scan it again at each of its starts.
    ///
    /// - Parameter isRepeated: it was sent before, perhaps.
    /// - Returns: nothing where the session is not ready.
    package mutating func publish(_ payload: String, number: UInt64, isRepeated: Bool, now: UInt64) -> [Effect] {
        guard phase == .idle else { return [] }
        phase = .publishing(number)
        limit = now &+ Self.patience
        pingAt = .max
        return [
            .send(
                MQTTPacket.publish(
                    topic: settings.tapTopic, payload: payload, id: Self.packetID(number), isRetained: false,
                    isRepeated: isRepeated))
        ]
    }

    package mutating func clock(now: UInt64) -> [Effect] {
        if let limit, now >= limit { return [.close(.silent)] }
        guard phase == .idle, now >= pingAt else { return [] }
        awaitsPong = true
        limit = now &+ Self.patience
        pingAt = .max
        return [.send(MQTTPacket.ping)]
    }

    /// What to send before the end: otherwise a will would say the same.
    package mutating func close() -> [UInt8] {
        guard phase != .signingOn else { return [] }
        return MQTTPacket.publish(
            topic: settings.stateTopic, payload: "offline", id: Self.stateID, isRetained: true, isRepeated: false)
            + MQTTPacket.disconnect
    }

    private mutating func rest(_ now: UInt64) {
        limit = nil
        pingAt = now &+ UInt64(Self.keepAliveSeconds) * 700
    }

    /// The same for each attempt to send an item: 1 to 65,000.
    package static func packetID(_ number: UInt64) -> UInt16 { UInt16(number % 65_000) + 1 }
}
