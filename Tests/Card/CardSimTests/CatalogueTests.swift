// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import CardSim

@Suite struct CatalogueTests {
    @Test func `every name makes a card and has a summary`() throws {
        #expect(CardCatalogue.names.starts(with: ["visa", "visa-afl", "visa-fdda-00", "mastercard"]))
        #expect(Set(CardCatalogue.names).count == CardCatalogue.names.count)
        for name in CardCatalogue.names {
            #expect(CardCatalogue.card(named: name) != nil)
            #expect(CardCatalogue.summary(of: name)?.isEmpty == false)
        }
        #expect(CardCatalogue.card(named: "nobody") == nil)
        #expect(CardCatalogue.summary(of: "nobody") == nil)
    }

    @Test func `a new card starts with a fresh counter`() throws {
        for _ in 0..<2 {
            var script = try TapScript("visa")
            _ = try script.select("A0000000031010")
            _ = try script.options()
            #expect(script.objects[0x9F36] == [0x00, 0x01])
        }
    }

    @Test func `every card answers the reader's pseudo-APDUs with its UID and historical bytes`() throws {
        for name in CardCatalogue.names {
            var card = try #require(CardCatalogue.card(named: name))
            #expect(card.answer([0xFF, 0xCA, 0, 0, 0]) == .answer(card.activation.uid + [0x90, 0x00]), "\(name)")
            #expect(
                card.answer([0xFF, 0xCA, 1, 0, 0]) == .answer(card.activation.answerToSelect + [0x90, 0x00]))
            #expect(card.answer([0xFF, 0xCA, 2, 0, 0]) == .answer([0x6A, 0x81]))
        }
    }

    @Test func `whatever is sent, no card traps`() throws {
        var random = SeededGenerator(seed: 3)
        let starts: [[UInt8]] = try [
            hex("00A404000E325041592E5359532E444446303100"), hex("00A4040007A000000003101000"),
            hex("00A4040007A000000004101000"), hex("80A8000023832136000000000000012500000000000000027600000000000978"),
            hex("80A80000028300"), hex("00B2011400"), hex("00B2031400"), hex("80AE9000"), hex("80CA9F3600"),
            hex("E002FFFF"), hex("FFCA000000"), [],
        ]
        for name in CardCatalogue.names {
            var card = try #require(CardCatalogue.card(named: name))
            for _ in 0..<120 {
                var command = starts.randomElement(using: &random) ?? []
                for _ in 0..<Int.random(in: 0...3, using: &random) where !command.isEmpty {
                    switch UInt8.random(in: 0...3, using: &random) {
                    case 0:
                        command[Int.random(in: 0..<command.count, using: &random)] = .random(
                            in: 0...255, using: &random)
                    case 1: command.removeLast()
                    case 2: command.append(.random(in: 0...255, using: &random))
                    default: command = Array(command.prefix(Int.random(in: 0...command.count, using: &random)))
                    }
                }
                if Bool.random(using: &random) { card.powerOn() }
                switch card.answer(command) {
                case .answer(let answer), .late(let answer, _):
                    if name != "smoke" { #expect(answer.count >= 2 && answer.count <= 258, "\(name)") }
                case .gone: break
                }
            }
        }
    }
}
