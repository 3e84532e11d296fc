// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Decisions by public cases")
struct DecisionVectorTests {
    private func store(_ objects: [(tag: CardBytes.Tag, value: [UInt8])]...) -> DataStore {
        var store = DataStore(kernel: KernelIdentifier(rawValue: 0))
        for list in objects {
            for object in list where !store.isPresent(object.tag) { store.set(object.tag, object.value) }
        }
        return store
    }

    /// Sources in their order of priority: the first one that has a tag counts.
    private func prioritised(_ line: [String: Any]) throws -> DataStore {
        let sources = try #require(line["sources_in_priority_order"] as? [[[String: Any]]])
        var store = DataStore(kernel: KernelIdentifier(rawValue: 0))
        for source in sources {
            for item in source {
                let tag = CardBytes.Tag(try #require(UInt32(try item.text("tag"), radix: 16)))
                if !store.isPresent(tag) { store.set(tag, try item.bytes("value")) }
            }
        }
        return store
    }

    @Test func `data object lists are parsed to their end or refused`() throws {
        for line in try Vectors.decisions("dol_parse") + Vectors.decisions("dol_length") {
            let list = try line.bytes("dol")
            let expected = try line.object("expected")
            let isRefused = expected["error"] as? Bool == true || expected["then"] as? String == "error"
            let filled = DataStore(kernel: .mastercard).fill(list: list)
            #expect((filled == nil) == isRefused, "\(line.id)")
            guard let entries = expected["entries"] as? [[String: Any]], !isRefused else { continue }
            #expect(filled?.count == entries.reduce(0) { $0 + ($1["length"] as? Int ?? 0) })
        }
    }

    @Test func `data object lists are filled, padded and cut by format`() throws {
        for line in try Vectors.decisions("dol_build") {
            let filled = try #require(try prioritised(line).fill(list: try line.bytes("dol")))
            #expect(Hex.string(filled) == (try line.object("expected").text("data")), "\(line.id)")
        }
    }

    @Test func `GENERATE AC is built from its data object list`() throws {
        for line in try Vectors.decisions("generate_ac_command") {
            let values = try line.object("values").map { (CardBytes.Tag(UInt32($0.key, radix: 16) ?? 0), $0.value) }
            var store = DataStore(kernel: .mastercard)
            for (tag, value) in values { store.set(tag, try Hex.bytes(try #require(value as? String))) }
            let data = try #require(store.fill(list: try line.bytes("cdol1")))
            let command = try #require(GenerateAC.command(.arqc, cda: false, cdolData: data))
            // One of the source's cases ends without Le.
            let expected = try line.object("expected").text("c_apdu")
            #expect(Hex.string(command.bytes) == expected || Hex.string(command.bytes) == expected + "00")
        }
    }

    @Test func `GET PROCESSING OPTIONS is sent, answered and refused as recorded`() throws {
        for line in try Vectors.decisions("gpo") {
            let id = try line.text("id")
            var store = try prioritised(line)
            try store.store(try line.bytes("fci"), policy: CardDataPolicy(duplicates: .keepFirst))
            let exchanges = try #require(line["apdus"] as? [[String: Any]])
            let built = ProcessingOptions.command(store)
            guard let exchange = exchanges.first else {
                #expect(built == nil, "\(id)")
                continue
            }
            #expect(Hex.string(try #require(built).command.bytes) == (try exchange.text("c")), "\(id)")
            let response = try ResponseAPDU(try exchange.bytes("r"))
            guard response.status.isSuccess else { continue }
            try ProcessingOptions.store(
                response.data, in: &store, formatOneMinimum: 6, policy: CardDataPolicy(duplicates: .reject(except: [])))
            let expected = try line.object("expected")
            #expect(store.value(0x82) == (try expected.bytes("aip")))
            #expect(store.value(0x94) == (try expected.bytes("afl")))
        }
    }

    @Test func `records are asked for in order and bad ones refused`() throws {
        let policy = CardDataPolicy(duplicates: .reject(except: []))
        for line in try Vectors.decisions("read_records") {
            let id = try line.text("id")
            let expected = try line.object("expected").text("result")
            guard let locator = ApplicationFileLocator(try line.bytes("afl")) else {
                #expect(expected == "afl_invalid", "\(id)")
                continue
            }
            var reader = RecordReader(locator)
            var store = DataStore(kernel: .mastercard)
            var failure: CardDataError?
            for exchange in try #require(line["apdus"] as? [[String: Any]]) {
                #expect(Hex.string(try #require(reader.command).bytes) == (try exchange.text("c")), "\(id)")
                failure = try take(exchange, &reader, &store, policy)
                if failure != nil { break }
            }
            switch expected {
            case "record_invalid": #expect(failure == .wrongTemplate, "\(id)")
            case "record_parse_failed":
                guard case .malformed = failure else { throw EndlessRun() }
            case "card_error_redundant_data": #expect(failure == .duplicate(0x8F), "\(id)")
            case "ok_but_oda_record_invalid":
                #expect(failure == nil, "\(id)")
                #expect(reader.hasUnusableRecord)
                #expect(reader.command == nil)
            case _: Issue.record("an unknown result in \(id)")
            }
        }
    }

    private func take(
        _ exchange: [String: Any], _ reader: inout RecordReader, _ store: inout DataStore, _ policy: CardDataPolicy
    ) throws -> CardDataError? {
        let response = try ResponseAPDU(try exchange.bytes("r"))
        do throws(CardDataError) {
            try reader.take(response.data, into: &store, policy: policy)
            return nil
        } catch {
            return error
        }
    }

    @Test func `CVM lists are parsed`() throws {
        for line in try Vectors.decisions("cvm_list") {
            let list = CVMList(try line.bytes("cvm_list"))
            let expected = try line.object("expected")
            guard let rules = expected["rules"] as? [[String: String]] else {
                #expect(list == nil)
                continue
            }
            #expect(list?.x == (expected["x"] as? Int).map { UInt32($0) })
            #expect(list?.y == (expected["y"] as? Int).map { UInt32($0) })
            #expect(
                list?.rules.map { [Hex.string([$0.code]), Hex.string([$0.condition])] }
                    == rules.map { [$0["code"] ?? "", $0["condition"] ?? ""] })
        }
    }

    @Test func `processing restrictions give the published verification results`() throws {
        for line in try Vectors.decisions("processing_restrictions") {
            let data = store(
                try line.dataObjects("config"), try line.dataObjects("params"), try line.dataObjects("icc"))
            let tvr = ProcessingRestrictions.evaluate(data)
            #expect(Hex.string(tvr.bytes) == (try line.object("expected").text("tvr")), "\(line.id)")
        }
    }

    @Test func `dates are compared as published, impossible ones against the card`() throws {
        func date(_ text: String?) -> EMVDate? {
            guard let text, text != "MISSING" else { return nil }
            let parts = text.split(separator: "-").compactMap { Int($0) }
            return parts.count == 3 ? EMVDate(year: parts[0], month: parts[1], day: parts[2]) : nil
        }
        for line in try Vectors.decisions("date_check") {
            let today = date(line["transaction_date"] as? String)
            let other = line["other"] as? String
            let result: Bool
            switch try line.text("check") {
            case "is_expired": result = ProcessingRestrictions.isExpired(date(other), on: today)
            case "is_not_effective": result = ProcessingRestrictions.isNotEffective(date(other), on: today)
            case _:
                let parts = try #require(other).split(separator: "/")
                let month = try Hex.bytes(parts.joined())
                result = ProcessingRestrictions.isExpired(EMVDate(mmyy: month), on: today)
            }
            #expect(result == (line["expected"] as? Bool), "\(line.id)")
        }
    }

    @Test func `terminal risk management gives the published verification results`() throws {
        for line in try Vectors.decisions("terminal_risk_management") {
            let data = store(
                try line.dataObjects("config"), try line.dataObjects("params"), try line.dataObjects("icc"))
            let management = TerminalRiskManagement(
                amount: try #require(data.number(0x81, count: 4)), previousAmount: try previousAmount(line),
                floorLimit: data.number(0x9F1B, count: 4), lowerConsecutiveLimit: data.byte(0x9F14),
                upperConsecutiveLimit: data.byte(0x9F23), transactionCounter: try counter(0x9F36, line),
                lastOnlineCounter: try counter(0x9F13, line))
            let expected = try line.object("expected").text("tvr")
            #expect(
                Hex.string(management.evaluate().bytes) == expected,
                "\(line.id)")
            #expect(Hex.string(TSI.terminalRiskManagementPerformed.bytes) == (try line.object("expected").text("tsi")))
        }
    }

    private func previousAmount(_ line: [String: Any]) throws -> UInt64 {
        let log = try #require(line["txn_log"] as? [[String: Any]])
        let pan = try line.dataObjects("icc").first { $0.tag == 0x5A }.map { Hex.string($0.value) } ?? "-"
        let own = log.filter { ($0["pan"] as? String)?.hasPrefix(pan) == true }
        return UInt64(own.last?["amount"] as? Int ?? 0)
    }

    private func counter(_ tag: CardBytes.Tag, _ line: [String: Any]) throws -> UInt16? {
        for exchange in try #require(line["apdus"] as? [[String: Any]]) {
            let response = try ResponseAPDU(try exchange.bytes("r"))
            guard response.status.isSuccess, let node = try TLV.first(tag, response.data) else { continue }
            return response.data[node.value].reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        }
        return nil
    }

    @Test func `track 2 equivalent data is taken apart`() throws {
        for line in try Vectors.decisions("track2_equivalent") {
            let track = try #require(Track2Equivalent(try line.bytes("input")))
            let expected = try line.object("expected")
            func text(_ digits: [UInt8]?) -> String? { digits.map { $0.map { String($0) }.joined() } }
            #expect(text(track.pan) == expected["pan"] as? String)
            #expect(text(track.expiry) == expected["expiry"] as? String)
            #expect(text(track.serviceCode) == expected["service_code"] as? String)
        }
    }
}
