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
    /// Keys of the receipts of payment services that the shop had before, by their names.
    var formerServices: [String: VerificationKey] = [:]
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
        try self.init(file: path, text: try ConfigurationFile.contents(path), credentials: credentials)
    }

    /// - Parameter file: name of the file, for errors.
    init(file: String, text: String, credentials: String? = nil) throws(ConfigurationError) {
        let faults = read(file, text, credentials)
        if let first = faults.first { throw first }
    }

    /// Reads the file and all that it names.
    ///
    /// - Returns: everything that is wrong, by its place; `nil` instead of a file with any of it.
    static func check(path: String, credentials: String?) -> (file: ConfigurationFile?, faults: [ConfigurationError]) {
        let text: String
        do throws(ConfigurationError) { text = try contents(path) } catch { return (nil, [error]) }
        var file = ConfigurationFile()
        let faults = file.read(path, text, credentials)
        let places = faults.enumerated().map { (line: $0.element.line ?? 0, order: $0.offset, fault: $0.element) }
        let sorted = places.sorted { ($0.line, $0.order) < ($1.line, $1.order) }.map(\.fault)
        return (faults.isEmpty ? file : nil, sorted)
    }

    private init() {}

    private static func contents(_ path: String) throws(ConfigurationError) -> String {
        guard let text = ConfigurationTable.contents(path) else {
            throw ConfigurationError(path, "cannot be read", remedy: "check its name and permissions")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: everything that is wrong, in the order of reading.
    private mutating func read(_ file: String, _ text: String, _ credentials: String?) -> [ConfigurationError] {
        let faults: [ConfigurationError]
        do throws(ConfigurationError) {
            var top = try ConfigurationTable(file: file, text: text)
            read(&top, credentials)
            faults = top.faults
        } catch {
            faults = [error]
        }
        return faults.map { fault in
            var fault = fault
            fault.line = fault.line ?? ConfigurationPosition.line(of: fault.key, in: text)
            return fault
        }
    }

    private mutating func read(_ top: inout ConfigurationTable, _ credentials: String?) {
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
        merchant = ConfigurationFile.merchant(&top)
        support = ConfigurationFile.support(&top)
        readGroups(&top)
        readLanes(&top)
        let settings = LoyaltySettings(&top, credentials: credentials)
        loyalty = settings.map {
            LoyaltyOffer(programmes: $0.programmes, maximumClockDifference: $0.maximumClockDifference)
        }
        offline = ConfigurationFile.offline(&top, mode: mode)
        formerServices = ConfigurationFile.formerServices(&top, mode: mode)
        top.finish()
    }

    private mutating func readSockets(_ top: inout ConfigurationTable) {
        var pos = top.subtable("pos")
        posSocket = pos.absolutePath("socket")
        posGroup = pos.text("group")
        pos.finish()
        var psp = top.subtable("psp")
        adapterSocket = psp.absolutePath("socket")
        if let seconds = psp.number("connect-timeout", in: 1...30) { times.connect = .seconds(seconds) }
        if let seconds = psp.number("answer-timeout", in: 1...120) { times.answer = .seconds(seconds) }
        if let path = psp.absolutePath("recipient-key") {
            recipient = psp.attempt { () throws(ConfigurationError) in try ConfigurationFile.recipient(path, psp) }
            if mode == .live, recipient?.isTest == true {
                psp.report("recipient-key", "is a test key", "install the payment service's live key")
            }
        }
        psp.finish()
        var journal = top.subtable("journal")
        stateDirectory = journal.absolutePath("directory")
        if let days = journal.number("keep-transactions", in: 1...3_650) {
            retention.transactions = Retention.day * days
        }
        if let days = journal.number("keep-audit", in: 1...3_650) { retention.audit = Retention.day * days }
        if let hours = journal.number("keep-events", in: 1...168) { retention.events = .seconds(3_600 * hours) }
        journal.finish()
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
        if let country = table.number("country", in: 1...999) { terminal.country = UInt16(country) }
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

    private mutating func readGroups(_ top: inout ConfigurationTable) {
        var table = top.subtable("groups")
        for role in Role.allCases {
            guard let name = table.text(role.rawValue) else { continue }
            if let number = UInt32(name) ?? Access.groupNumber(name) {
                groups[role] = number
            } else {
                table.report(role.rawValue, "names a group that does not exist", "create it: groupadd -r \(name)")
            }
        }
        table.finish()
    }

    private static func recipient(
        _ path: String, _ table: ConfigurationTable
    ) throws(ConfigurationError) -> RecipientKey {
        let jwk = try table.contents(of: path, for: "recipient-key")
        do throws(RecipientKeyError) { return try RecipientKey(jwk: jwk) } catch {
            throw table.wrong("recipient-key", "is wrong: \(error)", "install the JWK that the PSP gave you")
        }
    }
}
