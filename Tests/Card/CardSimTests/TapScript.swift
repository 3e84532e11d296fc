// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// A terminal made by hand: sends what a kernel would, and keeps what a card said. No decisions.
struct TapScript {
    var card: any VirtualCard
    /// What the terminal puts into DOLs.
    var terminal: [CardBytes.Tag: [UInt8]] = [
        0x9F66: [0x26, 0x80, 0x40, 0x00], 0x9F02: [0, 0, 0, 0, 0x12, 0x50], 0x9F03: [0, 0, 0, 0, 0, 0],
        0x9F1A: [0x02, 0x76], 0x95: [0, 0, 0, 0, 0], 0x5F2A: [0x09, 0x78], 0x9A: [0x26, 0x06, 0x07], 0x9C: [0x00],
        0x9F37: [0xAB, 0xAB, 0xAB, 0xAB], 0x9F35: [0x22], 0x9F34: [0x1F, 0x03, 0x02], 0x9F21: [0x12, 0x00, 0x00],
    ]
    /// Everything the card returned as primitive objects; of a tag that occurs twice the first.
    var objects: [CardBytes.Tag: [UInt8]] = [:]
    /// Records that offline authentication covers, in the order of the AFL.
    var staticData: [UInt8] = []
    /// DOL values as sent, and the answer to GENERATE AC without 9F4B.
    var transactionData: [UInt8] = []

    init(_ name: String) throws { self.init(try #require(CardCatalogue.card(named: name))) }

    init(_ card: any VirtualCard) {
        self.card = card
        self.card.powerOn()
    }

    mutating func send(_ command: String) throws -> ResponseAPDU { try send(hex(command)) }

    mutating func send(_ command: [UInt8]) throws -> ResponseAPDU {
        switch card.answer(command) {
        case .answer(let bytes), .late(let bytes, _): return try ResponseAPDU(bytes)
        case .gone:
            Issue.record("the card left")
            return ResponseAPDU(status: 0x6F00)
        }
    }

    mutating func keep(_ response: ResponseAPDU) throws {
        for node in try TLV.nodes(response.data) where !node.tag.isConstructed && objects[node.tag] == nil {
            objects[node.tag] = Array(response.data[node.value])
        }
    }

    private func values(_ dol: [UInt8]) throws -> [UInt8] {
        try DOL(dol).fill { tag in terminal[tag].map { ($0, .b) } }
    }

    mutating func select(_ name: String) throws -> StatusWord {
        let response = try send(CommandAPDU.select(hex(name)).bytes)
        if response.status.isSuccess { try keep(response) }
        return response.status
    }

    mutating func options() throws -> ResponseAPDU {
        let data = try values(objects[0x9F38] ?? [])
        transactionData = data
        let response = try send(
            CommandAPDU(
                cla: 0x80, ins: 0xA8, p1: 0, p2: 0, data: [0x83, UInt8(data.count)] + data, le: 256
            ).bytes)
        if response.status.isSuccess { try keep(response) }
        return response
    }

    mutating func readRecords() throws {
        let locator = objects[0x94] ?? []
        for entry in stride(from: 0, to: locator.count - 3, by: 4) {
            let (file, first, last, signed) = (
                locator[entry], locator[entry + 1], locator[entry + 2], locator[entry + 3]
            )
            for number in first...last {
                let response = try send([0x00, 0xB2, number, file | 0x04, 0x00])
                #expect(response.status == .success)
                let template = try #require(try TLV.children(response.data).first)
                #expect(template.tag == 0x70)
                if number - first < signed { staticData += response.data[template.value] }
                try keep(response)
            }
        }
        if objects[0x9F4A] == [0x82] { staticData += objects[0x82] ?? [] }
    }

    mutating func generateAC(_ type: UInt8) throws -> ResponseAPDU {
        let data = try values(objects[0x8C] ?? [])
        let response = try send(
            CommandAPDU(cla: 0x80, ins: 0xAE, p1: type, p2: 0, data: data, le: 256).bytes)
        guard response.status.isSuccess else { return response }
        transactionData += data
        for node in try TLV.nodes(response.data) where node.depth == 1 && node.tag != 0x9F4B {
            transactionData += response.data[node.start..<node.end]
        }
        try keep(response)
        return response
    }

    func primitiveTags(_ response: ResponseAPDU) throws -> [CardBytes.Tag] {
        try TLV.nodes(response.data).filter { !$0.tag.isConstructed }.map(\.tag)
    }

    /// What kernel and issuer would get to see.
    var record: [(CardBytes.Tag, [UInt8])] {
        objects.map { ($0.key, $0.value) } + terminal.filter { objects[$0.key] == nil }.map { ($0.key, $0.value) }
    }

    func authentication(_ method: AuthenticationRequest.Method, rid: String) throws -> AuthenticationResult {
        func object(_ tag: CardBytes.Tag) -> [UInt8] { objects[tag] ?? [] }
        let request = AuthenticationRequest(
            method: method, rid: try hex(rid), caIndex: object(0x8F).first ?? 0, issuerCertificate: object(0x90),
            issuerExponent: object(0x9F32), issuerRemainder: object(0x92), iccCertificate: object(0x9F46),
            iccExponent: object(0x9F47), iccRemainder: object(0x9F48), signature: object(0x9F4B),
            pan: object(0x5A), staticData: staticData, date: EMVDate(year: 2026, month: 6, day: 7))
        return OfflineAuthentication.using(.test).verify(request)
    }
}
