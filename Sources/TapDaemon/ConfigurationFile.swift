import Envelope
public import ReaderModels
public import Settings
import TapSession
import Wire

/// The configuration file, in TOML. Every setting has a default but the lanes; every value is checked.
public struct ConfigurationFile: Sendable {
    var mode = Mode.test
    /// `pos.socket`, unless systemd hands one over.
    public var posSocket: String?
    /// Group that may open the POS socket.
    public var posGroup: String?
    public var adapterSocket: String?
    public var stateDirectory: String?
    public var lanes: [Lane] = []
    var terminal = Terminal.test
    /// `nil` where no display name is configured.
    var merchant: Merchant?
    var support = SupportContact()
    /// `psp.recipient-key`
    var recipient: RecipientKey?
    /// `nil` where no profile is asked for.
    var profile: ProfileSettings?
    var times = AdapterLink.Times()
    var retention = Retention()
    /// `nil` where nothing may be stored.
    var offline: Offline?
    /// `nil` where no programme is configured.
    var loyalty: LoyaltyOffer?
    var groups: [Role: UInt32] = Access.systemGroups.groups
    /// Lanes of which any will do, by the group's name.
    var laneGroups: [String: [String]] = [:]

    /// A lane as it is written, its reader not opened yet.
    public struct Lane: Equatable, Sendable {
        public var name: String
        public var reader: ReaderAddress
        /// LED and buzzer of a reader that has them.
        public var feedback: FeedbackLevel

        public init(name: String, reader: ReaderAddress, feedback: FeedbackLevel = .lightsAndSound) {
            self.name = name
            self.reader = reader
            self.feedback = feedback
        }
    }

    /// - Parameter credentials: systemd's folder of credentials, where it gave one.
    /// - Throws: the first thing that is wrong, with what to do about it.
    public init(path: String, credentials: String? = nil) throws(ConfigurationError) {
        guard let text = ConfigurationTable.contents(path) else {
            throw ConfigurationError(path, "cannot be read", remedy: "check its name and permissions")
        }
        try self.init(file: path, text: String(decoding: text, as: UTF8.self), credentials: credentials)
    }

    /// - Parameter file: name of the file, for errors.
    init(file: String, text: String, credentials: String? = nil) throws(ConfigurationError) {
        do throws(ConfigurationError) { try read(file, text, credentials) } catch {
            var error = error
            error.line = error.line ?? ConfigurationPosition.line(of: error.key, in: text)
            throw error
        }
    }

    private mutating func read(
        _ file: String, _ text: String, _ credentials: String?
    ) throws(ConfigurationError) {
        var top = try ConfigurationTable(file: file, text: text)
        if let mode = try top.text("mode") {
            guard let mode = Mode(rawValue: mode) else {
                throw top.wrong("mode", "is neither test nor live", "write mode = \"test\" or mode = \"live\"")
            }
            self.mode = mode
        }
        try readSockets(&top)
        try readProfile(&top)
        try readTerminal(&top)
        merchant = try ConfigurationFile.merchant(&top)
        support = try ConfigurationFile.support(&top)
        try readGroups(&top)
        try readLanes(&top)
        try readLaneGroups(&top)
        let settings = try LoyaltySettings(&top, credentials: credentials)
        loyalty = settings.map {
            LoyaltyOffer(programmes: $0.programmes, maximumClockDifference: $0.maximumClockDifference)
        }
        offline = try ConfigurationFile.offline(&top, mode: mode)
        try top.finish()
    }

    private mutating func readSockets(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        var pos = try top.subtable("pos")
        posSocket = try pos.absolutePath("socket")
        posGroup = try pos.text("group")
        try pos.finish()
        var psp = try top.subtable("psp")
        adapterSocket = try psp.absolutePath("socket")
        if let seconds = try psp.number("connect-timeout", in: 1...30) { times.connect = .seconds(seconds) }
        if let seconds = try psp.number("answer-timeout", in: 1...120) { times.answer = .seconds(seconds) }
        if let path = try psp.absolutePath("recipient-key") {
            recipient = try ConfigurationFile.recipient(path, psp)
            guard mode == .test || recipient?.isTest == false else {
                throw psp.wrong("recipient-key", "is a test key", "install the payment service's live key")
            }
        }
        try psp.finish()
        var journal = try top.subtable("journal")
        stateDirectory = try journal.absolutePath("directory")
        if let days = try journal.number("keep-transactions", in: 1...3_650) {
            retention.transactions = Retention.day * days
        }
        if let days = try journal.number("keep-audit", in: 1...3_650) { retention.audit = Retention.day * days }
        if let hours = try journal.number("keep-events", in: 1...168) { retention.events = .seconds(3_600 * hours) }
        try journal.finish()
    }

    private mutating func readTerminal(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        var table = try top.subtable("terminal")
        if let id = try table.text("id") {
            guard id.utf8.count == 8, id.isReference(upTo: 8) else {
                throw table.wrong("id", "does not have 8 characters", "write the terminal id of the acquirer")
            }
            terminal.id = id
        }
        if let merchant = try table.text("merchant") {
            guard merchant.utf8.count <= 64 else {
                throw table.wrong("merchant", "is longer than 64 bytes", "write the merchant id of the acquirer")
            }
            terminal.merchant = merchant
        }
        if let country = try table.number("country", in: 1...999) { terminal.country = UInt16(country) }
        if let count = try table.number("max-tap-retries", in: 1...10) { terminal.maxTapRetries = count }
        if let path = try table.absolutePath("file") {
            guard let json = ConfigurationTable.contents(path) else {
                throw table.wrong("file", "names a file that cannot be read", "check its name and permissions")
            }
            do throws(TerminalFileError) { terminal.file = try TerminalFile(json: json) } catch {
                throw table.wrong("file", "is wrong: \(error)", "correct \(path)")
            }
        }
        try table.finish()
    }

    private mutating func readGroups(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        var table = try top.subtable("groups")
        for role in Role.allCases {
            guard let name = try table.text(role.rawValue) else { continue }
            guard let number = UInt32(name) ?? Access.groupNumber(name) else {
                throw table.wrong(role.rawValue, "names a group that does not exist", "create it: groupadd -r \(name)")
            }
            groups[role] = number
        }
        try table.finish()
    }

    private mutating func readLanes(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        for var table in try top.subtables("lane") {
            guard let name = try table.text("name"), name.isReference(upTo: 32) else {
                throw table.wrong("name", "is missing or not 1 to 32 visible characters", "write name = \"till-1\"")
            }
            guard !lanes.contains(where: { $0.name == name }) else {
                throw table.wrong("name", "is used twice", "give every lane a name of its own")
            }
            guard let text = try table.text("reader"), let reader = ReaderAddress(text) else {
                throw table.wrong(
                    "reader", "is missing or of no known kind",
                    "write pcsc:NAME, libnfc:CONNECTION or virtual:SOCKET")
            }
            if case .virtual = reader, mode == .live {
                throw table.wrong("reader", "is a virtual one", "live mode takes real readers only")
            }
            guard let feedback = FeedbackLevel(rawValue: try table.text("feedback") ?? "lights+sound") else {
                throw table.wrong("feedback", "is of no known kind", "write lights+sound, lights or off")
            }
            lanes.append(Lane(name: name, reader: reader, feedback: feedback))
            try table.finish()
        }
        guard !lanes.isEmpty else { throw top.wrong("lane", "is missing", "write [[lane]] with name and reader") }
        guard lanes.count <= 64 else { throw top.wrong("lane", "is there more than 64 times", "remove some") }
    }

    private mutating func readLaneGroups(_ top: inout ConfigurationTable) throws(ConfigurationError) {
        var table = try top.subtable("lane-groups")
        for name in table.keys {
            let members = try table.texts(name)
            guard name.isReference(upTo: 32) else {
                throw table.wrong(name, "is not 1 to 32 visible characters", "write counter = [\"till-1\", \"till-2\"]")
            }
            guard !members.isEmpty, Set(members).count == members.count else {
                throw table.wrong(name, "is empty or names a lane twice", "name each of its lanes once")
            }
            if let unknown = members.first(where: { member in !lanes.contains { $0.name == member } }) {
                throw table.wrong(name, "names the lane \(unknown), which does not exist", "add [[lane]] or remove it")
            }
            laneGroups[name] = members
        }
        try table.finish()
    }

    private static func recipient(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> RecipientKey {
        guard let jwk = ConfigurationTable.contents(path) else {
            throw table.wrong("recipient-key", "names a file that cannot be read", "check its name and permissions")
        }
        do throws(RecipientKeyError) { return try RecipientKey(jwk: jwk) } catch {
            throw table.wrong("recipient-key", "is wrong: \(error)", "install the JWK that the PSP gave you")
        }
    }
}
