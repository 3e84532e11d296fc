// SPDX-License-Identifier: Apache-2.0
import EMV

extension TerminalFile {
    /// The switches of `RiskManagement`; what is left out stays as it is by default.
    static func riskManagement(_ value: TerminalFileValue) throws(TerminalFileError) -> RiskManagement {
        try value.object(["merchantForcedOnline", "checksVelocity", "randomSelection"])
        var risk = RiskManagement()
        if let flag = try value.optional("merchantForcedOnline") { risk.merchantForcedOnline = try flag.flag() }
        if let flag = try value.optional("checksVelocity") { risk.checksVelocity = try flag.flag() }
        if let selection = try value.optional("randomSelection") {
            risk.randomSelection = try randomSelection(selection)
        }
        return risk
    }

    /// Amounts in minor units, percentages 0…99 (EMV Book 3 §10.6.2).
    private static func randomSelection(_ value: TerminalFileValue) throws(TerminalFileError) -> RandomSelection {
        try value.object(["floorLimit", "threshold", "targetPercentage", "maximumPercentage"])
        func number(_ name: String, upTo most: UInt64) throws(TerminalFileError) -> UInt64 {
            try value.member(name).number(in: 0...most)
        }
        return RandomSelection(
            floorLimit: try number("floorLimit", upTo: 999_999_999_999),
            threshold: try number("threshold", upTo: 999_999_999_999),
            targetPercentage: UInt8(truncatingIfNeeded: try number("targetPercentage", upTo: 99)),
            maximumPercentage: UInt8(truncatingIfNeeded: try number("maximumPercentage", upTo: 99)))
    }
}
