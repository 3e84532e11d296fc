// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Data store and dictionary")
struct DataStoreTests {
    private let reject = CardDataPolicy(duplicates: .reject(except: [0x5F34]))

    private func stored(
        _ hex: String, _ policy: CardDataPolicy, _ store: inout DataStore
    ) throws -> CardDataError? {
        let bytes = try Hex.bytes(hex)
        do throws(CardDataError) {
            try store.store(bytes, policy: policy)
            return nil
        } catch {
            return error
        }
    }

    @Test func `templates are flattened and only primitive objects kept`() throws {
        var store = DataStore(kernel: .visa)
        #expect(try stored("6F0A8402A000A504500241420000", reject, &store) == nil)
        #expect(store.value(0x84) == [0xA0, 0x00])
        #expect(store.value(0x50) == [0x41, 0x42])
        #expect(!store.isPresent(0x6F))
    }

    @Test func `an empty value is present but counts as absent`() throws {
        var store = DataStore(kernel: .visa)
        #expect(try stored("5A00", reject, &store) == nil)
        #expect(store.isPresent(0x5A))
        #expect(!store.isPresentNotEmpty(0x5A))
        #expect(store.value(0x5A) == nil)
        #expect(store.firstMissing(of: [0x5A]) == 0x5A)
        #expect(store.fill(list: [0x5A, 0x02]) == [0x00, 0x00])
    }

    @Test func `a card cannot overwrite what the terminal set, nor set it first`() throws {
        var store = DataStore(kernel: .visa)
        store.set(0x9F02, digits: 1_000, count: 6)
        #expect(try stored("9F02060000000000019F3704DEADBEEF", reject, &store) == nil)
        #expect(store.digits(0x9F02) == 1_000)
        #expect(!store.isPresent(0x9F37))
        let strict = CardDataPolicy(duplicates: .rejectUnlessEmpty, rejectsReservedTags: true)
        #expect(try stored("9F0206000000000001", strict, &store) == .reservedTag(0x9F02))
    }

    @Test func `each policy treats a repetition its own way`() throws {
        let cases: [(CardDataPolicy.Duplicates, String, CardDataError?, [UInt8])] = [
            (.reject(except: []), "9F360200019F36020001", .duplicate(0x9F36), [0, 1]),
            (.reject(except: [0x9F36]), "9F360200019F36020002", nil, [0, 1]),
            (.keepFirst, "9F360200019F36020002", nil, [0, 1]),
            (.rejectUnlessIdentical, "9F360200019F36020001", nil, [0, 1]),
            (.rejectUnlessIdentical, "9F360200019F36020002", .duplicate(0x9F36), [0, 1]),
            (.rejectUnlessEmpty, "9F36009F36020002", nil, [0, 2]),
            (.rejectUnlessEmpty, "9F360200019F36020002", .duplicate(0x9F36), [0, 1]),
        ]
        for (duplicates, hex, error, value) in cases {
            var store = DataStore(kernel: .visa)
            #expect(try stored(hex, CardDataPolicy(duplicates: duplicates), &store) == error)
            #expect(store.value(0x9F36) == value)
        }
    }

    @Test func `lengths are checked where the policy says so`() throws {
        var store = DataStore(kernel: .c8)
        let policy = CardDataPolicy(duplicates: .keepFirst, checksLengths: true)
        #expect(try stored("9F3601AA", policy, &store) == .wrongLength(0x9F36))
        #expect(try stored("9F3600", policy, &store) == nil)
        #expect(try stored("DF7F03010203", policy, &store) == nil)
    }

    @Test func `a malformed answer is refused with the place of the fault`() throws {
        var store = DataStore(kernel: .visa)
        #expect(try stored("9F36020001DF01", reject, &store) == .malformed(.truncatedLength(offset: 7)))
    }

    @Test func `a card that never ends is cut off`() throws {
        var store = DataStore(kernel: .visa)
        var error: CardDataError?
        for number in 0..<2_000 where error == nil {
            error = try stored(
                "DF" + Hex.string([0x80 | UInt8(number >> 7), UInt8(number & 0x7F)]) + "0101", reject, &store)
        }
        #expect(error == .tooManyObjects)
    }

    @Test func `a value set again keeps its new length`() {
        var store = DataStore(kernel: .mastercard)
        store.set(0x9F33, [1, 2, 3])
        store.set(0x9F33, [4, 5, 6])
        #expect(store.value(0x9F33) == [4, 5, 6])
        store.set(0x9F33, [7])
        #expect(store.value(0x9F33) == [7])
        store.remove(0x9F33)
        #expect(!store.isPresent(0x9F33))
    }

    @Test func `a short value is padded and a long one cut by its format`() throws {
        var store = DataStore(kernel: .mastercard)
        store.set(0x9F02, digits: 123_456, count: 6)
        store.set(0x9F1E, Array("AB".utf8))
        #expect(store.fill(list: try Hex.bytes("9F02029F1E04FF810502")) == [0x34, 0x56, 0x41, 0x42, 0, 0, 0, 0])
        #expect(store.fill(list: try Hex.bytes("9F02")) == nil)
    }

    @Test func `the meaning of a tag depends on the kernel`() {
        #expect(DataDictionary.element(0x9F6E, kernel: .visa)?.source == .card)
        #expect(DataDictionary.element(0x9F6E, kernel: .americanExpress)?.source == .terminal)
        #expect(DataDictionary.element(0x9F66, kernel: .mastercard)?.source == .card)
        #expect(DataDictionary.element(0x9F66, kernel: .visa)?.source == .terminal)
        #expect(DataDictionary.element(0x9F7C, kernel: .visa)?.source == .card)
        #expect(DataDictionary.element(0x9F6E, kernel: nil) == nil)
        #expect(DataDictionary.element(0x9F02, kernel: nil)?.format == .n)
        #expect(DataDictionary.element(0x9F02, kernel: KernelIdentifier(rawValue: 0x810978))?.maximumLength == 6)
        #expect(DataDictionary.element(0xDF7F, kernel: .visa) == nil)
    }

    @Test func `the dictionary is sorted and no tag means two things to one kernel and source`() {
        let rows = DataDictionary.all
        #expect(rows.count > 340)
        for (row, next) in zip(rows, rows.dropFirst()) { #expect(row.tag.rawValue <= next.tag.rawValue) }
        for row in rows { #expect(row.minimumLength <= row.maximumLength) }
    }

    @Test func `nothing prints card data`() {
        let object = DataObject(0x5A, [0x47, 0x61])
        #expect("\(object)" == "5A (2 bytes)")
        #expect(String(reflecting: object) == "5A (2 bytes)")
        var dumped = ""
        dump(Outcome(.approved, dataRecord: [DataObject(0x57, [0x47, 0x61, 0x73])]), to: &dumped)
        #expect(!dumped.contains("71"))
        #expect(!dumped.contains("97"))
    }
}
