// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

/// Issuer scripts by EMV Book 3 §10.10: a script ends with the first command that is refused, another script does not.
@Suite("Issuer scripts")
struct IssuerUpdateScriptTests {
    private func response(_ scripts: String, _ data: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]) throws -> OnlineResponse {
        OnlineResponse(
            authorisationResponseCode: [0x30, 0x30], issuerAuthenticationData: data, scripts: try Hex.bytes(scripts))
    }

    /// 71 with two commands, 72 with two.
    private static let both =
        "7119 9F180400000001 8608 8424000003AABBCC 8606 841800000101 7210 8606 841E00000102 8606 841600000103"
        .replacing(" ", with: "")

    private func sent(_ response: OnlineResponse, _ statuses: [StatusWord]) -> [String] {
        var update = IssuerUpdate(response)
        var commands: [String] = []
        for status in statuses {
            guard let command = update.command else { break }
            commands.append(Hex.string(command.bytes.prefix(2)))
            update.answered(status)
        }
        return commands
    }

    @Test func `every command goes out in its order while the card takes them`() throws {
        let response = try response(Self.both)
        #expect(response.isWellFormed)
        #expect(response.commandCount == 5)
        let good = [StatusWord](repeating: .success, count: 9)
        #expect(sent(response, good) == ["0082", "8424", "8418", "841E", "8416"])
        #expect(sent(response, [.success, 0x6282, 0x63C1, .success, .success, .success]).count == 5)
    }

    @Test func `a refused command ends its own script only`() throws {
        let response = try response(Self.both)
        #expect(sent(response, [.success, 0x6985, .success, .success, .success]) == ["0082", "8424", "841E", "8416"])
        #expect(sent(response, [.success, .success, .success, 0x6A80, .success]) == ["0082", "8424", "8418", "841E"])
        #expect(sent(response, [0x6300, .success, .success, .success, .success]).count == 5)
    }

    @Test(arguments: [
        ("7203860184", "a command that is no APDU"), ("7200", "a script without a command"),
        ("82020000", "another object"), ("7205", "cut off"), ("8607 8424000002AABB", "a command outside a script"),
    ])
    func `scripts that cannot be brought to a card are known before, and are left out`(text: String, what: String)
        throws
    {
        let response = try response(text.replacing(" ", with: ""))
        #expect(!response.isWellFormed, "\(what)")
        #expect(sent(response, [.success, .success, .success]) == ["0082"], "\(what)")
    }

    @Test func `issuer authentication data have eight to sixteen bytes, scripts at most 128`() throws {
        for count in 0...20 {
            let isTaken = count == 0 || (8...16).contains(count)
            #expect(try response("", [UInt8](repeating: 1, count: count)).isWellFormed == isTaken, "\(count)")
        }
        func script(_ count: Int) throws -> OnlineResponse {
            // 72, length, 86, length: four bytes before the command of five bytes and its data.
            let data = String(repeating: "00", count: count - 9)
            let lengths = [count - 2, count - 4, count - 9].map { Hex.string([UInt8($0)]) }
            return try response("72\(lengths[0])86\(lengths[1])84240000\(lengths[2])\(data)")
        }
        #expect(try script(128).isWellFormed)
        #expect(try !script(129).isWellFormed)
    }
}
