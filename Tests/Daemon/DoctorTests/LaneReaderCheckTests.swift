// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Doctor

/// Which reader a lane takes.
struct LaneReaderCheckTests {
    private static let reader = "ACS ACR122U PICC Interface 00 00"

    @Test("R7: the slots that no name tells apart are named")
    func slots() throws {
        let host = try FakeHost.healthy(lanes: ["pcsc:ACR1281"])
        let names = (0..<3).map { "ACS ACR1281 1S Dual Reader 00 0\($0)" }
        let finding = try #require(
            host.checkup(pcsc: .readers(names)).findings.first { $0.problem.contains("3 slots") })
        #expect(finding.severity == .note && finding.problem.contains("ACS ACR1281 1S Dual Reader"))
        let told = names.dropLast() + ["ACS ACR1281 1S Dual Reader [PICC] 00 02"]
        #expect(!host.checkup(pcsc: .readers(Array(told))).findings.contains { $0.problem.contains("slots") })
    }

    @Test("R16: two lanes and one reader, two readers and one lane, and two of each")
    func lanes() throws {
        let twins = [Self.reader, "ACS ACR122U PICC Interface 01 00"]
        func backend(_ lanes: [String], _ names: [String]) throws -> [Finding] {
            try FakeHost.healthy(lanes: lanes).checkup(pcsc: .readers(names)).findings(about: .backend)
        }
        let short = try backend(["pcsc:ACR122U", "pcsc:acr122u"], [Self.reader])
        #expect(short.map(\.severity) == [.error])
        #expect(short.first?.problem == "1 connected reader is right for lanes till-0, till-1")
        let choice = try backend(["pcsc:ACR122U"], twins)
        #expect(choice.map(\.severity) == [.note])
        #expect(choice.first?.problem.hasSuffix("takes the first: \(Self.reader)") == true)
        let chance = try backend(["pcsc:ACR122U", "pcsc:ACR122U"], twins)
        #expect(chance.map(\.severity) == [.warning])
        #expect(chance.first?.remedy.contains("docs/shop/readers.md") == true)
        #expect(try backend(["pcsc:Interface 00 00", "pcsc:Interface 01 00"], twins).isEmpty)
        let serials = ["ACS ACR122U (A) 00 00", "ACS ACR122U (B) 01 00"]
        let told = try backend(["pcsc:ACR122U", "pcsc:ACR122U"], serials)
        #expect(told.first?.remedy.contains(#"reader = "pcsc:ACS ACR122U (B)""#) == true)
        #expect(try backend(["pcsc:(A)", "pcsc:(B)"], serials).isEmpty)
    }
}
