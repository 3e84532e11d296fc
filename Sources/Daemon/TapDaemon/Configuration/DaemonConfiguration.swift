// SPDX-License-Identifier: Apache-2.0
import CardSim
public import Configuration
import Envelope
import Glibc
import Linux
import LocalHTTP
import PaymentValues
import ReaderCore
import ReaderModels
import ReaderVirtual
public import Settings
import StoreAndForward

/// Everything a daemon has to be told: what is written in the file, and what becomes of it on this machine.
@dynamicMemberLookup
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

    /// What no file says, and no reload changes.
    struct Surroundings: Sendable {
        /// By which keys and profiles expire.
        var clock: @Sendable () -> Timestamp = { .now }
        /// Whether the machine's clock follows a time service; `nil` where nobody says.
        var isClockSynchronized: @Sendable () -> Bool? = { MachineClock.isSynchronized }
        /// Of the machine, new with each start of it.
        var boot = DaemonConfiguration.kernelBoot()
        var limits = HTTPLimits()
        /// Knows a card again while the process lives.
        var marker = CardFingerprinter()
        /// How long a transaction waits for a client whose connections have all ended.
        var patience: Duration = .seconds(2)
        var healthInterval: Duration = .seconds(30)
    }

    /// As it is written.
    var file: ConfigurationFile
    var lanes: [LaneSetting] = []
    var access: Access
    /// Test mode has the programmes of the phones in software until some are configured.
    var offer: LoyaltyOffer
    var surroundings = Surroundings()

    /// Without a file: test mode, in folders that belong to the caller, who may do everything.
    ///
    /// - Throws: why a virtual reader's socket cannot be made.
    public init(
        defaultsOf host: ConfigurationHost, readers: [ConfigurationFile.Lane]
    ) throws(ConfigurationError) {
        file = ConfigurationFile(defaultsOf: host)
        file.profile = ProfileSettings()
        access = .ownerOnly
        offer = .test
        surroundings.limits = HTTPLimits(file.pos.places)
        for reader in readers { try add(reader) }
    }

    /// With a file.
    ///
    /// - Parameter before: what is in force: its readers are kept where they are named again.
    /// - Throws: `ConfigurationError` for a reader that the mode does not allow or no driver takes.
    public init(
        _ file: ConfigurationFile, keeping before: DaemonConfiguration? = nil
    ) throws(ConfigurationError) {
        self.file = file
        access = Access(groups: file.pos.roles, gateway: file.gateway, chargers: file.pos.chargers)
        access.refunds = file.pos.refunds
        access.remote = file.remote
        offer = LoyaltyOffer(file.loyalty, mode: file.mode)
        surroundings.limits = HTTPLimits(file.pos.places)
        if let before { surroundings = before.surroundings }
        for lane in file.lanes {
            let wanted = LaneSetting(
                name: lane.name, reader: .pcsc("", lane.feedback), address: lane.reader, feedback: lane.feedback)
            if let kept = before?.lanes.first(where: { $0.isSame(as: wanted) }) {
                lanes.append(kept)
            } else {
                try add(lane)
            }
        }
    }

    /// Reads the keys of test cards and phones, which any configuration begins with. Whoever needs them later finds them read.
    public static func readTestKeys() { _ = (Terminal.test, LoyaltyOffer.test) }

    public subscript<Value>(dynamicMember member: WritableKeyPath<ConfigurationFile, Value>) -> Value {
        get { file[keyPath: member] }
        set { file[keyPath: member] = newValue }
    }

    /// What rules storing; the key of the payment service stands for its name where nothing else does.
    var offlineSettings: OfflineSettings {
        OfflineSettings(
            rules: file.offline?.rules, serviceName: file.offline?.serviceName ?? recipient.keyID,
            receiptKey: file.offline?.receiptKey ?? (file.mode == .test ? SandboxReceipts.key : nil),
            formerServices: file.formerServices, alertAge: file.offline?.alertAge ?? .seconds(3_600))
    }

    /// The kernel's name for this start of the machine, or the service manager's word for it: the unit's `/proc` holds
    /// processes only. Without either every start of the daemon counts as one.
    private static func kernelBoot() -> String {
        let kernel = ConfigurationHost.contents("/proc/sys/kernel/random/boot_id") ?? []
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

    /// What reads are sealed to where neither the adapter nor a profile brings a key.
    private var recipient: RecipientKey { file.adapter.recipient ?? file.terminal.recipient }

    private mutating func add(_ lane: ConfigurationFile.Lane) throws(ConfigurationError) {
        if case .virtual = lane.reader, file.mode == .live {
            throw ConfigurationError(
                "lane \(lane.name)", "its reader is a virtual one", remedy: "live mode takes real readers only")
        }
        var setting = try DaemonConfiguration.setting(lane.name, lane.reader, lane.feedback)
        setting.feedback = lane.feedback
        if case .pcsc(let text) = lane.reader {
            let earlier = lanes.count { $0.address?.mayBeSameReader(as: lane.reader) ?? false }
            setting.reader = .pcsc(text, lane.feedback, earlier: earlier)
        }
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

extension HTTPLimits {
    init(_ places: PointOfSaleSettings.ConnectionLimits) {
        self.init()
        (connections, connectionsPerUser, reserved) = (places.connections, places.connectionsPerUser, places.reserved)
        (streams, streamsPerUser) = (places.streams, places.streamsPerUser)
        relayed = places.relayed
    }
}

extension LoyaltyOffer {
    init(_ settings: LoyaltySettings?, mode: Mode) {
        let configured = settings?.programmes ?? []
        self.init(
            programmes: configured.isEmpty && mode == .test ? LoyaltyOffer.test.programmes : configured,
            maximumClockDifference: settings?.maximumClockDifference)
    }
}
