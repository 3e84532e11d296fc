// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Directory and candidate list")
struct DirectoryTests {
    /// A PPSE with one 61 template for each list of objects.
    static func ppse(_ entries: [[DataObject]]) -> [UInt8] {
        var writer = TLVWriter()
        writer.append(0x6F) { fci in
            fci.append(0x84, Array("2PAY.SYS.DDF01".utf8))
            fci.append(0xA5) { proprietary in
                proprietary.append(0xBF0C) { issuer in
                    for entry in entries { issuer.append(0x61, entry.encoded) }
                }
            }
        }
        return writer.bytes
    }

    private static let otherAID: [UInt8] = [0xA0, 0x00, 0x00, 0x09, 0x99, 0x01]

    private func candidates(
        _ entries: [[DataObject]], _ combinations: [Combination]
    ) -> [Candidate] {
        Candidate.list(
            PPSEEntry.entries(ofPPSE: DirectoryTests.ppse(entries)),
            TerminalConfiguration(terminalData: [], combinations: combinations),
            allowed: combinations.indices.map { (index: $0, isAllowed: true) })
    }

    @Test(
        "the kernel identifier 9F2A decides which kernel is asked for",
        arguments: [
            ("", RequestedKernel.kernel(.visa)),
            ("00", .kernel(.visa)),
            ("0000", .any),
            ("030000000000000000", .none),
            ("03", .kernel(.visa)),
            ("43", .kernel(KernelIdentifier(rawValue: 0x43))),
            ("030102", .kernel(.visa)),
            ("81", .none),
            ("8101", .none),
            ("810101", .kernel(KernelIdentifier(rawValue: 0x810101))),
            ("81010155", .kernel(KernelIdentifier(rawValue: 0x810101))),
            ("C00000", .none),
            ("800978", .none),
            ("C11111", .kernel(KernelIdentifier(rawValue: 0xC11111))),
        ])
    func requestedKernel(identifier: String, expected: RequestedKernel) throws {
        let entries = PPSEEntry.entries(
            ofPPSE: DirectoryTests.ppse([
                [DataObject(0x4F, AID.visa), DataObject(0x9F2A, try Hex.bytes(identifier))]
            ]))
        #expect(try #require(entries.first).requestedKernel(matching: AID.visa, .v2_12) == expected)
    }

    @Test(
        "without 9F2A the RID chooses the kernel",
        arguments: [
            ("A0000000041010", KernelIdentifier.mastercard), ("A0000000031010", .visa),
            ("A00000002501", .americanExpress),
            ("A0000000651010", .jcb), ("A0000001523010", .discover), ("A000000333010101", .unionPay),
        ])
    func defaultKernel(aid: String, kernel: KernelIdentifier) throws {
        #expect(PPSEEntry.defaultKernel(of: try Hex.bytes(aid)) == kernel)
    }

    @Test func `an unknown RID without 9F2A takes any kernel of the combination`() {
        let combination = Combination(aid: DirectoryTests.otherAID, kernel: KernelIdentifier(rawValue: 0x20))
        #expect(candidates([[DataObject(0x4F, DirectoryTests.otherAID)]], [combination]).count == 1)
    }

    @Test func `a domestic kernel identifier matches only the combination with all its three bytes`() throws {
        let entry = [DataObject(0x4F, AID.visa), DataObject(0x9F2A, [0x81, 0x09, 0x78])]
        let same = Combination(aid: AID.visa, kernel: KernelIdentifier(rawValue: 0x810978))
        let other = Combination(aid: AID.visa, kernel: KernelIdentifier(rawValue: 0x810979))
        #expect(
            candidates([entry], [other, same, Combination(aid: AID.visa, kernel: .visa)]).map { $0.combination } == [1])
    }

    @Test func `a reader AID matches equal names and longer ones, never shorter ones`() {
        let reader = Combination(aid: [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10], kernel: .mastercard)
        #expect(candidates([[DataObject(0x4F, AID.mastercard)]], [reader]).count == 1)
        #expect(candidates([[DataObject(0x4F, reader.aid)]], [reader]).count == 1)
        #expect(candidates([[DataObject(0x4F, [0xA0, 0x00, 0x00, 0x00, 0x04])]], [reader]).isEmpty)
        #expect(candidates([[DataObject(0x4F, AID.visa)]], [reader]).isEmpty)
    }

    @Test func `the lowest priority number is tried first, none and zero last, equal ones in the card's order`() {
        let priorities: [[UInt8]?] = [[0x02], [0x01], nil, [0x00], [0x01]]
        let entries = priorities.enumerated().map { index, priority in
            [DataObject(0x4F, AID.visa + [UInt8(index)])] + (priority.map { [DataObject(0x87, $0)] } ?? [])
        }
        let order = candidates(entries, [Combination(aid: AID.visa, kernel: .visa)])
        #expect(order.map { $0.entry.adfName.last } == [1, 4, 0, 2, 3])
    }

    @Test func `only the low nibble of the priority counts`() {
        let entries = [
            [DataObject(0x4F, AID.visa + [0x00]), DataObject(0x87, [0x12])],
            [DataObject(0x4F, AID.visa + [0x01]), DataObject(0x87, [0x81])],
        ]
        let order = candidates(entries, [Combination(aid: AID.visa, kernel: .visa)])
        #expect(order.map { $0.entry.adfName.last } == [1, 0])
    }

    @Test func `one entry may give a candidate for each combination`() {
        let combinations = [
            Combination(aid: DirectoryTests.otherAID, kernel: .visa),
            Combination(aid: DirectoryTests.otherAID, kernel: .mastercard),
        ]
        #expect(
            candidates([[DataObject(0x4F, DirectoryTests.otherAID)]], combinations).map { $0.combination } == [0, 1])
    }

    @Test func `entries without a proper ADF name are left out`() {
        let entries: [[DataObject]] = [
            [DataObject(0x50, Array("NO NAME".utf8))],
            [DataObject(0x4F, [])],
            [DataObject(0x4F, [0xA0, 0x00, 0x00, 0x00])],
            [DataObject(0x4F, [UInt8](repeating: 0xA0, count: 17))],
            [DataObject(0x4F, AID.visa), DataObject(0x50, Array("VISA".utf8))],
        ]
        let found = PPSEEntry.entries(ofPPSE: DirectoryTests.ppse(entries))
        #expect(found.map { $0.adfName } == [AID.visa])
        #expect(found.first?.label == Array("VISA".utf8))
    }

    @Test func `an entry that is no BER-TLV inside does not spoil the others`() throws {
        let broken: [UInt8] = [0x61, 0x03, 0x4F, 0x07, 0xA0]
        let whole: [UInt8] = [0x61, 0x09, 0x4F, 0x07] + AID.visa
        let discretionary = TLVWriter.length(broken.count + whole.count) + broken + whole
        let proprietary: [UInt8] = [0xBF, 0x0C] + discretionary
        let fci: [UInt8] = [0x6F, UInt8(proprietary.count + 2), 0xA5, UInt8(proprietary.count)] + proprietary
        #expect(PPSEEntry.entries(ofPPSE: fci).map { $0.adfName } == [AID.visa])
    }

    @Test func `padding between entries is skipped and unknown objects are left alone`() throws {
        let entry: [UInt8] = [0x61, 0x0D, 0x9F, 0x0A, 0x01, 0x55, 0x4F, 0x07] + AID.visa
        let content: [UInt8] = [0x00, 0x00] + entry + [0x00, 0xFF] + [0x42, 0x01, 0x11]
        let proprietary: [UInt8] = [0xBF, 0x0C, UInt8(content.count)] + content
        let fci: [UInt8] = [0x6F, UInt8(proprietary.count + 2), 0xA5, UInt8(proprietary.count)] + proprietary
        #expect(PPSEEntry.entries(ofPPSE: fci).count == 1)
    }

    /// Level by level, as Book B §3.3.2 tells it: the objects in each 6F, in each A5 in one of them, in each BF0C in one of those.
    private static func entriesByLevel(_ fci: [UInt8]) -> [PPSEEntry] {
        do {
            var ranges = [0..<fci.count]
            for template: CardBytes.Tag in [0x6F, 0xA5, 0xBF0C] {
                ranges = try ranges.flatMap { try TLV.children(fci, in: $0) }.filter { $0.tag == template }.map(\.value)
            }
            return try ranges.flatMap { try TLV.children(fci, in: $0) }.filter { $0.tag == 0x61 }.compactMap { node in
                guard let objects = try? TLV.children(fci, in: node.value) else { return nil }
                let value = { (tag: CardBytes.Tag) in objects.first { $0.tag == tag }.map { Array(fci[$0.value]) } }
                guard let name = value(0x4F), (5...16).contains(name.count) else { return nil }
                var entry = PPSEEntry(adfName: name)
                entry.label = value(0x50)
                entry.priority = value(0x87)?.first ?? 0
                entry.kernelIdentifier = value(0x9F2A) ?? []
                entry.extendedSelection = value(0x9F29) ?? []
                return entry
            }
        } catch {
            return []
        }
    }

    @Test func `ten thousand directories, whole and damaged, have the entries of a reading level by level`() {
        var generator = SeededGenerator(seed: 44)
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func object(_ tag: [UInt8], _ value: [UInt8]) -> [UInt8] { tag + TLVWriter.length(value.count) + value }
        func many(_ most: Int, _ make: () -> [UInt8]) -> [UInt8] { (0..<pick(0...most)).flatMap { _ in make() } }
        func inner() -> [UInt8] {
            let tags: [[UInt8]] = [[0x4F], [0x4F], [0x50], [0x87], [0x9F, 0x2A], [0x9F, 0x29], [0x42]]
            return object(tags[pick(0...6)], generator.bytes(pick(0...9)))
        }
        func discretionary() -> [UInt8] { object(pick(0...7) == 0 ? [0x62] : [0x61], many(5, inner)) }
        func proprietary() -> [UInt8] {
            object(pick(0...7) == 0 ? [0x9F, 0x38] : [0xBF, 0x0C], many(4, discretionary))
        }
        func template() -> [UInt8] { object(pick(0...7) == 0 ? [0x84] : [0xA5], many(2, proprietary)) }
        var found = 0
        for _ in 0..<10_000 {
            var fci = many(2) { object(pick(0...7) == 0 ? [0x70] : [0x6F], many(2, template)) }
            if pick(0...3) == 0, !fci.isEmpty { fci[pick(0...fci.count - 1)] = generator.bytes(1)[0] }
            if pick(0...7) == 0, !fci.isEmpty { fci.removeLast(pick(0...min(3, fci.count))) }
            let entries = PPSEEntry.entries(ofPPSE: fci)
            #expect(entries == Self.entriesByLevel(fci), "\(Hex.string(fci))")
            found += entries.count
        }
        #expect(found > 1_000)
    }

    @Test(
        "a directory that is truncated or empty has no entries",
        arguments: ["", "6F", "6F05A503BF0C", "6F0384010", "6F02A500", "7000"])
    func noEntries(text: String) throws {
        let bytes = text.utf8.count.isMultiple(of: 2) ? try Hex.bytes(text) : try Hex.bytes(text + "0")
        #expect(PPSEEntry.entries(ofPPSE: bytes).isEmpty)
    }

    @Test func `extended selection is appended where it fits and the combination supports it`() {
        func candidate(_ suffix: [UInt8]) -> Candidate {
            let entry = [DataObject(0x4F, AID.visa), DataObject(0x9F29, suffix)]
            return candidates([entry], [Combination(aid: AID.visa, kernel: .visa)])[0]
        }
        #expect(candidate([0x01, 0x02]).selectionName(extended: true) == AID.visa + [0x01, 0x02])
        #expect(candidate([0x01, 0x02]).selectionName(extended: false) == AID.visa)
        #expect(candidate([UInt8](repeating: 1, count: 10)).selectionName(extended: true) == AID.visa)
    }
}
