// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim

/// Everything that the fake pcscd knows, under one lock; and its answers to each command.
struct FakeState {
    struct Handle {
        let reader: String
        let connection: Int
        var cardNumber: Int
        let isExclusive: Bool
        var pendingCode: UInt32?
    }

    /// What goes back to the client, after `delayMilliseconds`.
    enum Reply {
        case send([UInt8], delayMilliseconds: UInt64 = 0)
        case nothing
        case hang
        case hangUp
    }

    static let tableSize = 16
    var readers: [FakeReader?] = Array(repeating: nil, count: tableSize)
    /// Client connections by a number that never repeats, with their descriptors.
    var connections: [Int: Int32] = [:]
    var nextConnection = 1
    var waiting: Set<Int> = []
    var contexts: [UInt32: Int] = [:]
    /// Never repeats within a process: libpcsclite asks again for ever when it is given an id that it knows.
    var nextContext = UInt32.random(in: 0x0100_0000..<0x2000_0000)
    var handles: [UInt32: Handle] = [:]
    var nextHandle: UInt32 = 0x1000
    var faults: [PendingFault] = []
    var log: [PCSCLogEntry] = []

    var table: [UInt8] {
        readers.flatMap { $0?.slot ?? [UInt8](repeating: 0, count: 184) }
    }

    func index(of reader: String) -> Int? { readers.firstIndex { $0?.name == reader } }

    /// Takes what connection `number` held.
    mutating func drop(connection number: Int) {
        connections[number] = nil
        waiting.remove(number)
        contexts = contexts.filter { $0.value != number }
        for (id, handle) in handles where handle.connection == number { close(id, handle) }
    }

    mutating func answer(_ command: PCSCCommand, _ body: MessageBody, extra: [UInt8], from connection: Int) -> Reply {
        let reader = self.reader(command, body)
        let detail: UInt32 =
            switch command {
            case .disconnect, .endTransaction: body[4]
            case .transmit, .control: UInt32(extra.count)
            default: 0
            }
        let isForReader = command == .control || command == .transmit && ReaderPart.isIndicator(extra)
        log.append(
            PCSCLogEntry(
                at: rigNow(), command: command, reader: reader, detail: detail, indicator: isForReader ? extra : []))
        if let fault = takeFault(command, reader) { return answer(fault, command, body) }
        var body = body
        switch command {
        case .version: return version(&body)
        case .getReaderTable: return .send(table)
        case .registerForEvents:
            waiting.insert(connection)
            return .send(table)
        case .stopWaiting: return waiting.remove(connection) == nil ? .nothing : .send([UInt8](repeating: 0, count: 8))
        case .establishContext:
            nextContext += 1
            contexts[nextContext] = connection
            body[4] = nextContext
            body.result = PCSCCode.success
        case .releaseContext:
            body.result = contexts.removeValue(forKey: body[0]) == nil ? PCSCCode.invalidHandle : PCSCCode.success
        case .connect: connect(&body, from: connection)
        case .reconnect: reconnect(&body)
        case .disconnect: disconnect(&body)
        case .beginTransaction:
            body.result = check(body[0])
            if body.result == PCSCCode.success { lock(body[0], by: body[0]) }
        case .endTransaction:
            body.result = check(body[0])
            if body.result == PCSCCode.success { lock(body[0], by: nil) }
        case .status: body.result = check(body[0])
        case .transmit: return transmit(&body, extra)
        case .control:
            body[16] = 0
            body.result = handles[body[0]] == nil ? PCSCCode.invalidHandle : PCSCCode.success
        case .cancel, .getAttribute, .setAttribute: body.result = PCSCCode.unsupportedFeature
        }
        return .send(body.bytes)
    }

    private mutating func takeFault(_ command: PCSCCommand, _ reader: String?) -> PCSCFault? {
        let index = faults.firstIndex { $0.command == command && ($0.reader == nil || $0.reader == reader) }
        return index.map { faults.remove(at: $0).fault }
    }

    private func answer(_ fault: PCSCFault, _ command: PCSCCommand, _ body: MessageBody) -> Reply {
        var body = body
        switch fault {
        case .hang: return .hang
        case .hangUp: return .hangUp
        case .code(let code):
            if command.bodySize == 0 { return .hangUp }
            body.result = code
            return .send(body.bytes)
        case .answer(let bytes):
            body[24] = UInt32(bytes.count)
            body.result = PCSCCode.success
            return .send(body.bytes + bytes)
        }
    }

    private func version(_ body: inout MessageBody) -> Reply {
        // Another release of libpcsclite has other messages: refused, so that no test passes by accident.
        body.result = body[0] == 4 && body[4] == 4 ? PCSCCode.success : 0x8010_001E
        body[0] = 4
        body[4] = 4
        return .send(body.bytes)
    }

    private func reader(_ command: PCSCCommand, _ body: MessageBody) -> String? {
        switch command {
        case .connect: body.text(at: 4, count: 128)
        case .reconnect, .disconnect, .beginTransaction, .endTransaction, .transmit, .control, .status, .getAttribute,
            .setAttribute:
            handles[body[0]]?.reader
        case .establishContext, .releaseContext, .cancel, .version, .getReaderTable, .registerForEvents, .stopWaiting:
            nil
        }
    }
}

extension FakeState {
    private mutating func connect(_ body: inout MessageBody, from connection: Int) {
        let name = body.text(at: 4, count: 128)
        let share = body[132]
        guard let index = index(of: name), var reader = readers[index] else {
            body.result = PCSCCode.unknownReader
            return
        }
        let isExclusive = share == 1
        if reader.isMute, reader.card != nil, share != 3 {
            // The connection powers it up anew.
            reader.isMute = reader.powerUpsToFail > 0
            reader.powerUpsToFail -= 1
            readers[index] = reader
        }
        if reader.isInError {
            body.result = PCSCCode.readerUnavailable
        } else if reader.isMute, share != 3 {
            body.result = PCSCCode.unpoweredCard
        } else if reader.card == nil, share != 3 {
            body.result = PCSCCode.noSmartcard
        } else if reader.isRaw, share != 3 {
            body.result = PCSCCode.protocolMismatch
        } else if reader.sharing < 0 || isExclusive && reader.sharing > 0 {
            body.result = PCSCCode.sharingViolation
        } else {
            nextHandle += 1
            handles[nextHandle] = Handle(
                reader: name, connection: connection, cardNumber: reader.cardNumber, isExclusive: isExclusive)
            reader.connections = isExclusive ? -1 : reader.connections + 1
            reader.card?.powerOn()
            readers[index] = reader
            body[140] = nextHandle
            body[144] = 2
            body.result = PCSCCode.success
        }
    }

    private mutating func reconnect(_ body: inout MessageBody) {
        guard let handle = handles[body[0]] else {
            body.result = PCSCCode.invalidHandle
            return
        }
        guard let index = index(of: handle.reader), readers[index]?.card != nil else {
            body.result = PCSCCode.noSmartcard
            return
        }
        readers[index]?.card?.powerOn()
        handles[body[0]]?.pendingCode = nil
        handles[body[0]]?.cardNumber = readers[index]?.cardNumber ?? 0
        body[16] = 2
        body.result = PCSCCode.success
    }

    private mutating func disconnect(_ body: inout MessageBody) {
        guard let handle = handles[body[0]] else {
            body.result = PCSCCode.invalidHandle
            return
        }
        close(body[0], handle)
        let unpower: UInt32 = 2
        if body[4] == unpower, let index = index(of: handle.reader) { readers[index]?.isRaw = false }
        body.result = PCSCCode.success
    }

    private mutating func close(_ id: UInt32, _ handle: Handle) {
        handles[id] = nil
        guard let index = index(of: handle.reader), var reader = readers[index] else { return }
        reader.connections = handle.isExclusive ? 0 : max(0, reader.connections - 1)
        if reader.lockHolder == id { reader.lockHolder = nil }
        readers[index] = reader
    }

    private mutating func lock(_ id: UInt32, by holder: UInt32?) {
        guard let name = handles[id]?.reader, let index = index(of: name) else { return }
        readers[index]?.lockHolder = holder
    }

    /// What the real daemon finds wrong with a handle, in its order.
    private func check(_ id: UInt32) -> UInt32 {
        guard let handle = handles[id] else { return PCSCCode.invalidHandle }
        guard let index = index(of: handle.reader), let reader = readers[index] else {
            return PCSCCode.readerUnavailable
        }
        if let holder = reader.lockHolder, holder != id { return PCSCCode.sharingViolation }
        if reader.isInError { return PCSCCode.readerUnavailable }
        if let code = handle.pendingCode { return code }
        if reader.card == nil || reader.cardNumber != handle.cardNumber { return PCSCCode.removedCard }
        return PCSCCode.success
    }

    private mutating func transmit(_ body: inout MessageBody, _ command: [UInt8]) -> Reply {
        body.result = check(body[0])
        if body.result == PCSCCode.success, body[4] != 2 { body.result = PCSCCode.protocolMismatch }
        guard body.result == PCSCCode.success, let name = handles[body[0]]?.reader, let index = index(of: name),
            var card = readers[index]?.card
        else { return .send(body.bytes) }
        let reply = ReaderPart.answer(command, by: &card)
        readers[index]?.card = card
        switch reply {
        case .answer(let bytes): return .send(received(&body, bytes))
        case .late(let bytes, let milliseconds):
            return .send(received(&body, bytes), delayMilliseconds: milliseconds)
        case .gone:
            readers[index]?.remove()
            notify()
            body.result = PCSCCode.notTransacted
            return .send(body.bytes)
        }
    }

    private func received(_ body: inout MessageBody, _ bytes: [UInt8]) -> [UInt8] {
        let room = body[24]
        body[24] = UInt32(bytes.count)
        guard UInt32(bytes.count) <= room else {
            body.result = PCSCCode.insufficientBuffer
            return body.bytes
        }
        return body.bytes + bytes
    }

    /// Wakes every waiting client, each with exactly one notification.
    mutating func notify() {
        for number in waiting {
            guard let descriptor = connections[number] else { continue }
            _ = UnixStream.send([UInt8](repeating: 0, count: 8), to: descriptor)
        }
        waiting = []
    }

    /// Wakes the client that waits with `context`, if there is one.
    mutating func cancel(_ context: UInt32) -> UInt32 {
        guard let number = contexts[context], waiting.remove(number) != nil, let descriptor = connections[number] else {
            return PCSCCode.invalidHandle
        }
        var notification = MessageBody([UInt8](repeating: 0, count: 8))
        notification.result = PCSCCode.cancelled
        _ = UnixStream.send(notification.bytes, to: descriptor)
        return PCSCCode.success
    }
}
