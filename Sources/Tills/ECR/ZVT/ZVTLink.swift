// SPDX-License-Identifier: Apache-2.0

/// Packets in, packets out, over whichever line.
struct ZVTLink: Sendable {
    enum Event: Equatable, Sendable {
        case write([UInt8])
        case packet(ZVTPacket)
        case arm(TillTimer, Int64)
        /// A packet has begun and has to be whole in time.
        case armRequest
        case failed
    }

    private enum Kind {
        case tcp(ZVTStream)
        case serial(ZVTSerialLink)
    }

    private var kind: Kind

    init(_ line: ZVTTerminal.Line) {
        switch line {
        case .tcp: kind = .tcp(ZVTStream())
        case .serial: kind = .serial(ZVTSerialLink())
        }
    }

    var isSerial: Bool {
        switch kind {
        case .tcp: false
        case .serial: true
        }
    }

    /// No packet has begun.
    var isIdle: Bool {
        switch kind {
        case .tcp(let stream): !stream.isWithin
        case .serial: true
        }
    }

    mutating func reset() { self = ZVTLink(isSerial ? .serial : .tcp) }

    mutating func receive(_ bytes: [UInt8]) -> [Event] {
        switch kind {
        case .tcp(var stream):
            stream.append(bytes)
            var events: [Event] = []
            do throws(ZVTFailure) {
                while let packet = try stream.next() { events.append(.packet(packet)) }
                if stream.isWithin { events.append(.armRequest) }
            } catch {
                events.append(.failed)
            }
            kind = .tcp(stream)
            return events
        case .serial(var serial):
            let events = serial.receive(bytes)
            kind = .serial(serial)
            return events.map(ZVTLink.event)
        }
    }

    mutating func send(_ packet: ZVTPacket) -> [Event] {
        guard case .serial(var serial) = kind else { return [.write(packet.bytes)] }
        let events = serial.send(packet)
        kind = .serial(serial)
        return events.map(ZVTLink.event)
    }

    mutating func byteTimePassed() -> [Event] {
        guard case .serial(var serial) = kind else { return [] }
        let events = serial.byteTimePassed()
        kind = .serial(serial)
        return events.map(ZVTLink.event)
    }

    mutating func frameTimePassed(_ number: UInt64) -> [Event] {
        guard case .serial(var serial) = kind else { return [] }
        let events = serial.frameTimePassed(number)
        kind = .serial(serial)
        return events.map(ZVTLink.event)
    }

    private static func event(_ event: ZVTSerialLink.Event) -> Event {
        switch event {
        case .write(let bytes): .write(bytes)
        case .packet(let packet): .packet(packet)
        case .armByte: .arm(.serialByte, ZVTSerialLink.byteTime)
        case .armFrame(let number): .arm(.serialFrame(number), ZVTSerialLink.frameTime)
        case .failed: .failed
        }
    }
}
