// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[lane.standing]`: a lane that is always armed, for a machine that nobody stands beside.
public struct StandingSettings: Equatable, Sendable {
    public var mode: StandingMode
    /// What a tap asks for, in minor units; nothing where passes are read.
    public var amount: Money
    /// The most that a machine may ask for by itself, in minor units.
    public var maximum: Int64
    /// Seconds in which an approval has to be claimed, or with `ask` what was read.
    public var claim = 60
    /// The same at most with `ask`: five seconds before the read is too old to be sent.
    public static let longestKeeping = 55
    /// Minutes after which a claimed hold goes back that is neither committed nor kept.
    public var release = 480
    /// Minutes before that in which the machine is told; 0 for not at all.
    public var warning = 10
    /// Seconds after a tap in which another one is none.
    public var debounce = 3
    /// Sessions that may be open at a time.
    public var openSessions = 1
    public var tapsPerHour = 120

    public init(mode: StandingMode, amount: Money) {
        (self.mode, self.amount, maximum) = (mode, amount, amount.value)
        if mode == .ask { claim = StandingSettings.longestKeeping }
    }

    /// What nobody may expect of it. Said by `nfc-tap config check`, the manual and the log of a start.
    public static let warning =
        "takes cards with nobody beside it: no scheme's and no PCI programme's approval covers that, and PCI MPoC excludes it; "
        + "ask your payment service and your acquirer in writing before a customer sees it"
}

extension ConfigurationFile {
    /// - Returns: `nil` where the lane has none, or nothing can be made of it.
    static func standing(_ lane: inout ConfigurationTable, mode: Mode) -> StandingSettings? {
        guard lane.has("standing") else { return nil }
        var table = lane.subtable("standing")
        defer { table.finish() }
        let kind = table.text("mode").flatMap { StandingMode(rawValue: $0) }
        if kind == nil {
            table.report("mode", "is missing or none of sale, hold, ask and read", "write mode = \"hold\"")
        }
        if kind == .read { return reading(&table) }
        let isTest = table.flag("test") ?? false
        if mode == .test, !isTest {
            table.report(
                "test", "is not true", "write test = true: in test mode a machine gives real goods for test money")
        } else if mode == .live, isTest {
            table.report("test", "is true in live mode", "remove it")
        }
        let most = Int(clamping: Limits.amount)
        let code = table.text("currency")
        let currency = code.flatMap { Currency($0) }
        if currency == nil { table.report("currency", "is missing or not of ISO 4217", "write currency = \"EUR\"") }
        let value = table.number("amount", in: 1...most)
        if value == nil { table.report("amount", "is missing", "write what a tap asks for, in minor units") }
        let maximum = table.number("maximum", in: 1...most)
        if let value, let maximum, maximum < value {
            table.report("maximum", "is less than amount", "write at least \(value)")
        }
        let claim = table.number(
            "claim-seconds", in: kind == .ask ? 1...StandingSettings.longestKeeping : Limits.confirmSeconds)
        let release = table.number("release-minutes", in: 1...10_080)
        let warning = table.number("warning-minutes", in: 0...10_079)
        if let warning, warning >= release ?? 480 {
            table.report(
                "warning-minutes", "is not less than release-minutes", "write at most \((release ?? 480) - 1)")
        }
        let sessions = table.number("open-sessions", in: 1...64)
        let gate = gate(&table)
        guard let kind, let currency, let value else { return nil }
        var settings = StandingSettings(mode: kind, amount: Money(value: Int64(value), currency: currency))
        if let maximum { settings.maximum = Int64(maximum) }
        if let claim { settings.claim = claim }
        if let release { settings.release = release }
        if let warning { settings.warning = warning }
        if let sessions { settings.openSessions = sessions }
        if let debounce = gate.debounce { settings.debounce = debounce }
        if let taps = gate.taps { settings.tapsPerHour = taps }
        return settings
    }

    /// A lane that reads passes: nothing about money is a setting of it.
    private static func reading(_ table: inout ConfigurationTable) -> StandingSettings {
        for key in [
            "amount", "maximum", "currency", "claim-seconds", "release-minutes", "warning-minutes", "open-sessions",
            "test",
        ] where table.has(key) {
            table.report(key, "is about money, and mode = \"read\" takes none", "remove it")
        }
        var settings = StandingSettings(mode: .read, amount: .none)
        let gate = gate(&table)
        if let debounce = gate.debounce { settings.debounce = debounce }
        if let taps = gate.taps { settings.tapsPerHour = taps }
        return settings
    }

    private static func gate(_ table: inout ConfigurationTable) -> (debounce: Int?, taps: Int?) {
        (table.number("debounce-seconds", in: 0...60), table.number("taps-per-hour", in: 1...3_600))
    }

    /// A lane that reads passes needs some to ask for; test mode has those of the phones in software.
    func checkReadingLanes(_ top: inout ConfigurationTable) {
        guard mode == .live, loyalty?.programmes.isEmpty ?? true,
            let lane = lanes.first(where: { $0.standing?.mode == .read })
        else { return }
        top.report(
            "loyalty.programme", "is missing, and the lane \(lane.name) reads passes", "add a [[loyalty.programme]]")
    }
}
