// SPDX-License-Identifier: Apache-2.0
import Codes
import Envelope
import Linux
import PSPAPI
public import PaymentValues
public import ReaderModels
public import Settings
import TerminalFile

/// The configuration file, in TOML. Every setting has a default but the lanes; every value is checked.
///
/// The daemon, the doctor and `nfc-tap config check` read it with this code and no other. It has a stored property for each table.
public struct ConfigurationFile: Sendable {
    public var mode = Mode.test
    public var pos: PointOfSaleSettings
    /// `nil` where nobody may speak for tills.
    public var gateway: GatewaySettings?
    /// `nil` where no backend starts payments.
    public var remote: RemoteSettings?
    public var adapter: AdapterSettings
    public var journal: JournalSettings
    public var day = DaySettings()
    public var lanes: [Lane] = []
    /// Lanes of which any will do, by the group's name.
    public var laneGroups: [String: [String]] = [:]
    /// PIN entry devices by their names.
    public var pinDevices: [String: PINDeviceSettings] = [:]
    public var terminal = Terminal.test
    /// `nil` where no display name is configured.
    public var merchant: Merchant?
    public var support = SupportContact()
    /// `nil` where no profile is asked for.
    public var profile: ProfileSettings?
    /// `nil` where nothing may be stored.
    public var offline: Offline?
    /// Payment services that the shop had before, by their names.
    public var formerServices: [String: FormerService] = [:]
    /// `nil` where no programme is configured.
    public var loyalty: LoyaltySettings?
    public var diagnostics = DiagnosticsSettings()
    /// Settings that are written by a former name; each is read as if it had its own.
    public var formerNames: [ConfigurationError] = []

    /// A lane as it is written, its reader not opened yet.
    public struct Lane: Equatable, Sendable {
        public var name: String
        public var reader: ReaderAddress
        /// LED and buzzer of a reader that has them.
        public var feedback: FeedbackLevel
        /// The PIN device that stands beside the reader, by its name in `pinDevices`.
        public var pinDevice: String?
        /// `nil` where a till asks for each card.
        public var standing: StandingSettings?

        public var isVirtual: Bool { if case .virtual = reader { true } else { false } }

        public init(name: String, reader: ReaderAddress, feedback: FeedbackLevel = .lightsAndSound) {
            self.name = name
            self.reader = reader
            self.feedback = feedback
        }
    }

    /// What holds where nothing is written: no lane, the folders and groups of the host.
    public init(defaultsOf host: ConfigurationHost) {
        pos = PointOfSaleSettings(defaultsOf: host)
        gateway = GatewaySettings(of: host)
        adapter = AdapterSettings(socket: host.runtimeDirectory + "/psp.sock")
        journal = JournalSettings(directory: host.stateDirectory)
    }

    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, host: ConfigurationHost = ConfigurationHost()) throws(ConfigurationError) {
        try self.init(file: path, text: try host.text(of: path), host: host)
    }

    /// - Parameter file: name of the file, for errors.
    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(
        file: String, text: String, host: ConfigurationHost = ConfigurationHost()
    ) throws(ConfigurationError) {
        self.init(defaultsOf: host)
        let faults = read(file, text, host)
        if let first = faults.first { throw first }
    }

    /// Reads the file and all that it names, with a look at whether its keys are valid now.
    ///
    /// A key that is not keeps payments from being taken, and not the daemon from starting: what is open with the payment
    /// service still has to be brought to its end.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Returns: what is right of it, and everything that is wrong, by its place.
    public static func read(
        path: String, host: ConfigurationHost, at now: UInt64
    ) -> (file: ConfigurationFile, faults: [ConfigurationError]) {
        var file = ConfigurationFile(defaultsOf: host)
        let text: String
        do throws(ConfigurationError) { text = try host.text(of: path) } catch { return (file, [error]) }
        var faults = file.read(path, text, host)
        if var expired = file.expiredKey(at: now) {
            expired.line = ConfigurationPosition.line(of: expired.key, in: text)
            faults.append(expired)
        }
        let places = faults.enumerated().map { (line: $0.element.line ?? 0, order: $0.offset, fault: $0.element) }
        return (file, places.sorted { ($0.line, $0.order) < ($1.line, $1.order) }.map(\.fault))
    }

    /// - Returns: everything that is wrong, in the order of reading.
    private mutating func read(_ file: String, _ text: String, _ host: ConfigurationHost) -> [ConfigurationError] {
        do throws(ConfigurationError) {
            var top = try ConfigurationTable(file: file, text: text, host: host)
            read(&top)
            formerNames = top.formerNames
            return top.faults
        } catch {
            return [error]
        }
    }

    private mutating func read(_ top: inout ConfigurationTable) {
        if let text = top.text("mode") {
            if let mode = Mode(rawValue: text) {
                self.mode = mode
            } else {
                top.report("mode", "is neither test nor live", "write mode = \"test\" or mode = \"live\"")
            }
        }
        readSockets(&top)
        readProfile(&top)
        readTerminal(&top)
        terminal.denied = ConfigurationFile.denied(&top)
        merchant = ConfigurationFile.merchant(&top)
        support = ConfigurationFile.support(&top)
        readGroups(&top)
        readCredentials(&top)
        var refunds = top.subtable("refunds")
        self.pos.refunds = RefundSettings(&refunds)
        readLanes(&top)
        readPINDevices(&top)
        readGateway(&top)
        readRemote(&top)
        checkDescriptors(&top)
        loyalty = LoyaltySettings(&top)
        checkReadingLanes(&top)
        offline = ConfigurationFile.offline(&top, mode: mode)
        formerServices = ConfigurationFile.formerServices(&top, mode: mode)
        var diagnostics = top.subtable("diagnostics")
        self.diagnostics = DiagnosticsSettings(&diagnostics, mode: mode)
        top.finish()
    }

    private mutating func readSockets(_ top: inout ConfigurationTable) {
        var pos = top.subtable("pos")
        if let socket = pos.absolutePath("socket") { self.pos.socket = socket }
        self.pos.group = pos.nameOrNumber("group")
        readPlaces(&pos)
        pos.finish()
        var psp = top.subtable("psp")
        if let socket = psp.absolutePath("socket") { adapter.socket = socket }
        if let seconds = psp.number("connect-timeout", in: 1...30) { adapter.times.connect = .seconds(seconds) }
        if let seconds = psp.number("answer-timeout", in: 1...120) { adapter.times.answer = .seconds(seconds) }
        if let path = psp.absolutePath("recipient-key") {
            adapter.recipient = psp.attempt { () throws(ConfigurationError) in
                try ConfigurationFile.recipient(path, psp)
            }
            if mode == .live, adapter.recipient?.isTest == true {
                psp.report("recipient-key", "is a test key", "install the payment service's live key")
            }
        }
        psp.finish()
        var journal = top.subtable("journal")
        if let folder = journal.absolutePath("directory") { self.journal.directory = folder }
        if let days = journal.number("keep-transactions", in: 1...3_650) {
            self.journal.retention.transactions = Retention.day * days
        }
        if let days = journal.number("keep-refundable", in: 1...3_650) {
            self.journal.retention.refundable = Retention.day * days
        }
        if let days = journal.number("keep-audit", in: 1...3_650) {
            self.journal.retention.audit = Retention.day * days
        }
        if let hours = journal.number("keep-events", in: 1...168) {
            self.journal.retention.events = .seconds(3_600 * hours)
        }
        journal.finish()
        var day = top.subtable("day")
        self.day = DaySettings(&day)
    }

    private mutating func readTerminal(_ top: inout ConfigurationTable) {
        var table = top.subtable("terminal")
        if let id = table.text("id") {
            if id.utf8.count != 8 || !id.isReference(upTo: 8) {
                table.report("id", "does not have 8 characters", "write the terminal id of the acquirer")
            }
            terminal.id = id
        }
        if let merchant = table.text("merchant") {
            if merchant.utf8.count > 64 {
                table.report("merchant", "is longer than 64 bytes", "write the merchant id of the acquirer")
            }
            terminal.merchant = merchant
        }
        if let country = table.number("country", in: 1...999) {
            if CountryCode(numeric: UInt64(country)) == nil {
                table.report("country", "is not a country of ISO 3166-1", "write its number, as 276 for Germany")
            }
            terminal.country = UInt16(country)
        }
        if let count = table.number("max-tap-retries", in: 1...10) { terminal.maxTapRetries = count }
        if let path = table.absolutePath("file") {
            let file = table.attempt { () throws(ConfigurationError) in try ConfigurationFile.terminal(path, table) }
            if let file { terminal.file = file }
        }
        table.finish()
    }

    private static func terminal(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> TerminalFile {
        let json = try table.contents(of: path, for: "file")
        do throws(TerminalFileError) { return try TerminalFile(json: json) } catch {
            throw table.wrong("file", "is wrong: \(error)", "correct \(path)")
        }
    }

    private mutating func readPlaces(_ table: inout ConfigurationTable) {
        if let number = table.number("connections", in: 32...1_024) { pos.places.connections = number }
        if let number = table.number("connections-per-user", in: 8...1_024) { pos.places.connectionsPerUser = number }
        if let number = table.number("reserved-places", in: 1...64) { pos.places.reserved = number }
        if let number = table.number("event-streams", in: 8...256) { pos.places.streams = number }
        if let number = table.number("event-streams-per-user", in: 1...256) { pos.places.streamsPerUser = number }
        if 2 * pos.places.reserved >= min(pos.places.connections, pos.places.streams) {
            table.report(
                "reserved-places", "leaves no place for a monitor",
                "reserve less than half of connections and of event-streams")
        }
    }

    /// Places that the process cannot give would be found out in the middle of a busy day.
    private func checkDescriptors(_ top: inout ConfigurationTable) {
        let needed = pos.places.descriptors(lanes: lanes.count)
        guard let shortage = DescriptorLimit.Shortage(of: needed, most: top.host.descriptors) else { return }
        top.report(
            "pos.connections", shortage.problem,
            "lower connections, or \(shortage.remedy(unit: "nfc-tapd.service"))")
    }

    private mutating func readGroups(_ top: inout ConfigurationTable) {
        var table = top.subtable("groups")
        for role in Role.allCases {
            if let number = table.group(role.rawValue) { pos.roles[role] = number }
        }
        table.finish()
    }

    /// `[credentials]`.
    private mutating func readCredentials(_ top: inout ConfigurationTable) {
        var table = top.subtable("credentials")
        if let group = table.group("group") { pos.chargers = group }
        if let days = table.number("keep-proof", in: 1...36_500) {
            journal.retention.proofs = Retention.day * days
        }
        table.finish()
    }

    private static func recipient(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> RecipientKey {
        let jwk = try table.contents(of: path, for: "recipient-key")
        do throws(RecipientKeyError) { return try RecipientKey(jwk: jwk) } catch {
            let remedy =
                error == .privateKey
                ? "remove it from this machine at once, and ask your payment service for a new key"
                : "ask your payment service for a public JWK that follows this rule"
            throw table.wrong("recipient-key", "is wrong: \(error)", remedy)
        }
    }

    private func expiredKey(at now: UInt64) -> ConfigurationError? {
        do throws(RecipientKeyError) {
            try adapter.recipient?.checkPeriod(at: now)
            return nil
        } catch {
            return ConfigurationError(
                "psp.recipient-key", "is of no use: \(error)",
                remedy: "install a newer JWK of your payment service, and run systemctl reload nfc-tapd")
        }
    }
}
