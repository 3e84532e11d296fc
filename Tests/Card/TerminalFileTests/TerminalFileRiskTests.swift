// SPDX-License-Identifier: Apache-2.0
import EMV
import Testing

@testable import TerminalFile

@Suite("Risk management in a terminal file")
struct TerminalFileRiskTests {
    private func file(_ risk: String) -> [UInt8] {
        Array(
            """
            {"version": 1, "environment": "test", "terminalData": {}, "combinations": [
              {"aid": "A0000000041010", "kernel": 2\(risk.isEmpty ? "" : #", "riskManagement": "# + risk)}
            ]}
            """.utf8)
    }

    private func risk(_ text: String) throws -> RiskManagement? {
        try TerminalFile(json: file(text)).configuration.combinations.first?.riskManagement
    }

    @Test func `every switch is read and what is left out keeps its default`() throws {
        #expect(try risk("") == RiskManagement())
        #expect(try risk("{}") == RiskManagement())
        let selection =
            #"{"floorLimit": 10000, "threshold": 500, "targetPercentage": 5, "maximumPercentage": 40}"#
        let all = try risk(
            #"{"merchantForcedOnline": false, "checksVelocity": true, "checksCash": false, "checksCashback": false, "#
                + #""randomSelection": \#(selection)}"#)
        #expect(
            all
                == RiskManagement(
                    merchantForcedOnline: false,
                    randomSelection: RandomSelection(
                        floorLimit: 10_000, threshold: 500, targetPercentage: 5, maximumPercentage: 40),
                    checksVelocity: true, checksCash: false, checksCashback: false))
        // Each switch is its own.
        #expect(try risk(#"{"checksCash": false}"#) == RiskManagement(checksCash: false))
        #expect(try risk(#"{"checksCashback": false}"#) == RiskManagement(checksCashback: false))
    }

    @Test func `every fault names its member`() throws {
        let path = "combinations[0].riskManagement"
        let cases: [(String, TerminalFileError)] = [
            (#"{"velocity": true}"#, .unknown("\(path).velocity")),
            (#"{"checksVelocity": 1}"#, .wrongType("\(path).checksVelocity", expected: .yesOrNo)),
            (#"{"randomSelection": {"floorLimit": 1}}"#, .missing("\(path).randomSelection.threshold")),
            (
                #"{"randomSelection": {"floorLimit": 1, "threshold": 0, "targetPercentage": 100}}"#,
                .outOfRange("\(path).randomSelection.targetPercentage", 0...99)
            ),
        ]
        for (text, error) in cases {
            #expect(throws: error) { try risk(text) }
        }
    }
}
