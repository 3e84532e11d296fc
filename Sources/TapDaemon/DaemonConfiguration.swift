import LocalHTTP
public import Wire

/// Everything a daemon has to be told. Without a file: test mode, one virtual reader, the published test key.
public struct DaemonConfiguration: Sendable {
    /// A lane and its reader.
    public struct LaneSetting: Sendable {
        public var name: String
        public var reader: ReaderSource

        public init(name: String, reader: ReaderSource) {
            self.name = name
            self.reader = reader
        }
    }

    public var mode = Mode.test
    /// Folder of the journal; made with mode 0700 where it is missing.
    public var stateDirectory: String
    /// The adapter's socket.
    public var adapterSocket: String
    public var lanes: [LaneSetting]
    public var access = Access.ownerOnly
    public var terminal = Terminal.test
    var times = AdapterLink.Times()
    var limits = HTTPLimits()
    /// How long a transaction waits for a client whose connections have all ended.
    var patience: Duration = .seconds(2)
    var healthInterval: Duration = .seconds(30)

    public init(stateDirectory: String, adapterSocket: String, lanes: [LaneSetting]) {
        self.stateDirectory = stateDirectory
        self.adapterSocket = adapterSocket
        self.lanes = lanes
    }
}
