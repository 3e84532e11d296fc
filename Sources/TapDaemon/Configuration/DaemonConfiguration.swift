import CardSim
import Envelope
import Glibc
import Linux
import LocalHTTP
import ReaderCore
import ReaderModels
import ReaderVirtual
public import Settings
import StoreAndForward
import Wire

/// Everything a daemon has to be told. Without a file: test mode, one virtual reader, the published test key.
public struct DaemonConfiguration: Sendable {
    /// A lane and its reader.
    struct LaneSetting: Sendable {
        var name: String
        var reader: ReaderSource
        /// As it is written; `nil` where the reader came from somewhere else.
        var address: ReaderAddress?
        /// Takes the virtual reader's commands for as long as the lane is there.
        var control: VirtualReaderSocket?
        var feedback = FeedbackLevel.lightsAndSound

        /// Whether the reader that is open can stay.
        func isSame(as other: LaneSetting) -> Bool {
            name == other.name && address != nil && address == other.address && feedback == other.feedback
        }
    }

    var mode = Mode.test
    /// Folder of the journal; made with mode 0700 where it is missing.
    public internal(set) var stateDirectory: String
    /// The adapter's socket.
    public internal(set) var adapterSocket: String
    var lanes: [LaneSetting]
    /// Lanes of which any will do, by the group's name.
    var groups: [String: [String]] = [:]
    var access = Access.ownerOnly
    var terminal = Terminal.test
    /// As receipts name it; `nil` for the acquirer's name of it.
    var merchant: Merchant?
    var support = SupportContact()
    /// Card data is sealed to this one whatever the adapter or a profile say.
    var pinnedRecipient: RecipientKey?
    /// `nil` where no profile is asked for.
    var profile: ProfileSettings?
    /// By which keys and profiles expire.
    var clock: @Sendable () -> Timestamp = { .now }
    /// Test mode has the programmes of the phones in software until some are configured.
    var loyalty = LoyaltyOffer.test
    var times = AdapterLink.Times()
    /// `nil` where nothing may be stored.
    var offline: ConfigurationFile.Offline?
    /// Keys of the receipts of payment services that the shop had before, by their names.
    var formerServices: [String: VerificationKey] = [:]
    /// Of the machine, new with each start of it.
    var boot = DaemonConfiguration.kernelBoot()
    var limits = HTTPLimits()
    /// How long a transaction waits for a client whose connections have all ended.
    var patience: Duration = .seconds(2)
    var healthInterval: Duration = .seconds(30)
    var retention = Retention()

    init(stateDirectory: String, adapterSocket: String, lanes: [LaneSetting]) {
        self.stateDirectory = stateDirectory
        self.adapterSocket = adapterSocket
        self.lanes = lanes
    }

    /// Without a file: test mode, in folders that belong to the caller, who may do everything.
    ///
    /// - Throws: why a virtual reader's socket cannot be made.
    public init(
        stateDirectory: String, adapterSocket: String, readers: [(name: String, reader: ReaderAddress)]
    ) throws(ConfigurationError) {
        self.init(stateDirectory: stateDirectory, adapterSocket: adapterSocket, lanes: [])
        profile = ProfileSettings()
        for (name, reader) in readers { try add(name, reader) }
    }

    /// With a file.
    ///
    /// - Parameters:
    ///   - stateDirectory: where the file does not name one.
    ///   - adapterSocket: where the file does not name one.
    ///   - before: what is in force: its readers are kept where they are named again.
    public init(
        _ file: ConfigurationFile, stateDirectory: String, adapterSocket: String,
        keeping before: DaemonConfiguration? = nil
    ) throws(ConfigurationError) {
        self.init(
            stateDirectory: file.stateDirectory ?? stateDirectory, adapterSocket: file.adapterSocket ?? adapterSocket,
            lanes: [])
        mode = file.mode
        terminal = file.terminal
        merchant = file.merchant
        support = file.support
        pinnedRecipient = file.recipient
        if let recipient = file.recipient { terminal.recipient = recipient }
        profile = file.profile
        times = file.times
        offline = file.offline
        formerServices = file.formerServices
        retention = file.retention
        loyalty = file.loyalty ?? LoyaltyOffer(programmes: [])
        if loyalty.programmes.isEmpty, file.mode == .test { loyalty.programmes = LoyaltyOffer.test.programmes }
        access = Access(groups: file.groups)
        groups = file.laneGroups
        for lane in file.lanes {
            let wanted = LaneSetting(
                name: lane.name, reader: .pcsc("", lane.feedback), address: lane.reader, feedback: lane.feedback)
            if let kept = before?.lanes.first(where: { $0.isSame(as: wanted) }) {
                lanes.append(kept)
            } else {
                try add(lane.name, lane.reader, lane.feedback)
            }
        }
    }

    /// What rules storing; the key of the payment service stands for its name where nothing else does.
    var offlineSettings: OfflineSettings {
        OfflineSettings(
            rules: offline?.rules, issuer: offline?.issuer ?? terminal.recipient.keyID,
            receiptKey: offline?.receiptKey ?? (mode == .test ? SandboxReceipts.key : nil),
            formerKeys: formerServices, alertAge: offline?.alertAge ?? .seconds(3_600))
    }

    /// The kernel's name for this start of the machine, or the service manager's word for it: the unit's `/proc` holds
    /// processes only. Without either every start of the daemon counts as one.
    private static func kernelBoot() -> String {
        let kernel = ConfigurationTable.contents("/proc/sys/kernel/random/boot_id") ?? []
        let manager = Environment.value("NFC_TAP_BOOT_ID")
        return boot(kernel: String(decoding: kernel, as: UTF8.self), manager: manager) ?? TransactionID().text
    }

    /// Both forms of a boot's name as one: the kernel's has dashes, that of systemd's `%b` has none.
    ///
    /// - Returns: `nil` where neither is 32 hexadecimal digits.
    static func boot(kernel: String, manager: String?) -> String? {
        for text in [kernel, manager ?? ""] {
            let digits = text.filter { $0 != "-" && !$0.isWhitespace }.lowercased()
            if digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) { return digits }
        }
        return nil
    }

    /// Whether reads are sealed to a key that everybody can open.
    public var usesTestKey: Bool { terminal.recipient.isTest }

    private mutating func add(
        _ name: String, _ reader: ReaderAddress, _ feedback: FeedbackLevel = .lightsAndSound
    ) throws(ConfigurationError) {
        if case .virtual = reader, mode == .live {
            throw ConfigurationError(
                "lane \(name)", "its reader is a virtual one", remedy: "live mode takes real readers only")
        }
        var setting = try DaemonConfiguration.setting(name, reader, feedback)
        setting.feedback = feedback
        lanes.append(setting)
    }

    private static func setting(
        _ name: String, _ reader: ReaderAddress, _ feedback: FeedbackLevel
    ) throws(ConfigurationError) -> LaneSetting {
        switch reader {
        case .pcsc(let text): return LaneSetting(name: name, reader: .pcsc(text, feedback), address: reader)
        case .libnfc(let connection): return LaneSetting(name: name, reader: .libnfc(connection), address: reader)
        case .virtual(let path):
            let control = try DaemonConfiguration.control(name)
            do throws(VirtualSocketError) {
                let socket = try VirtualReaderSocket(path: path, control: control)
                return LaneSetting(name: name, reader: .virtual(control), address: reader, control: socket)
            } catch {
                throw ConfigurationError("lane \(name)", "virtual reader: \(error)", remedy: "use another path")
            }
        }
    }

    private static func control(_ name: String) throws(ConfigurationError) -> VirtualReaderControl {
        do throws(ReaderError) {
            return try VirtualReaderControl(name: name, cardNames: CardCatalogue.names) {
                CardCatalogue.card(named: $0)
            }
        } catch {
            throw ConfigurationError(
                "lane \(name)", "virtual reader: \(error)", remedy: "raise the limit of open files")
        }
    }
}
