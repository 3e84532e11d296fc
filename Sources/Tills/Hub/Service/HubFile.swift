// SPDX-License-Identifier: Apache-2.0
package import Linux
import PaymentValues
public import Settings

/// The configuration file of `nfc-tap-hub`, in TOML: a table `[[output]]` for each receiver.
public struct HubFile: Sendable {
    /// Who gets taps, and how.
    package enum Receiver: Sendable {
        case mqtt(broker: TCPAddress, MQTTSession.Settings)
        case webhook(WebhookPlace, [WebhookKey])
        case keyboard(KeyboardSettings)
    }

    public struct Output: Sendable {
        /// 1 to 32 letters, digits and dashes: the name of its outbox, and of it in the log.
        public var name: String
        package var receiver: Receiver
        package var lanes: [String]
        package var rule: HubRule
        /// Seconds that a tap is good for; 0 for ever.
        package var life: Int

        /// Where taps go, for people.
        public var place: String {
            switch receiver {
            case .mqtt(let broker, let settings): "MQTT \(settings.tapTopic) at \(broker)"
            case .webhook(let place, _): "webhook \(place.url)"
            case .keyboard(let settings): "keyboard, layout \(settings.layout.rawValue)"
            }
        }
    }

    /// The daemon's socket for points of sale.
    public var socket = "/run/nfc-tap/pos.sock"
    /// Where the outboxes are.
    public var directory = Self.ownDirectory
    /// As the unit makes it.
    private static let ownDirectory = "/var/lib/nfc-tap-hub"
    public var outputs: [Output] = []
    /// What works with most receivers and not with all, and what to write for these.
    public var notes: [ConfigurationError] = []

    /// What keeps the outboxes from being written, and what to do; `nil` where nothing is to be seen.
    public var folderFault: String? {
        StateFolder.fault(
            directory, files: outputs.map { OutputPort.outbox(of: $0.name) },
            isMadeByUnit: directory == Self.ownDirectory)
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
        var top = try ConfigurationTable(file: file, text: text, host: host)
        if let socket = top.absolutePath("socket") { self.socket = socket }
        if let directory = top.absolutePath("directory") { self.directory = directory }
        let entries = top.subtables("output")
        for var entry in entries {
            if let output = Output(&entry) { outputs.append(output) }
            entry.finish()
        }
        if entries.isEmpty {
            top.report("output", "is missing", "write [[output]] with name, kind, lanes and what its kind needs")
        }
        refuseSharing(&top)
        top.finish()
        if let first = top.faults.first { throw first }
        for (index, output) in outputs.enumerated() {
            guard let key = output.doubtfulKey else { continue }
            var note = ConfigurationError(
                "output[\(index)].\(key)", "has a dot, a star or a blank, which RabbitMQ changes and NATS hangs up at",
                remedy: "for these brokers write letters, digits, - and _")
            note.line = ConfigurationPosition.line(of: note.key, in: text)
            notes.append(note)
        }
    }

    /// Two clients with one id throw each other out for ever; two outboxes with one name are one file.
    private func refuseSharing(_ top: inout ConfigurationTable) {
        for (index, output) in outputs.enumerated() {
            for other in outputs[..<index] {
                if other.name == output.name {
                    top.report("output[\(index)].name", "is used twice", "give every output a name of its own")
                } else if other.isKeyboard || output.isKeyboard {
                    // Whoever takes over a line to the network must not be able to type.
                    top.report(
                        "output[\(index)].kind", "stands beside a keyboard",
                        "write the keyboard alone into a file of its own, for a service without a network")
                } else if let client = output.client, client == other.client {
                    top.report("output[\(index)].client", "is used twice", "give every output a client id of its own")
                } else if output.overwritesScanner(of: other) {
                    top.report(
                        "output[\(index)].lanes", "names the same scanner for Home Assistant as output \(other.name)",
                        "name the lanes so that they differ in letters, digits, - and _")
                }
            }
        }
    }
}

/// Where a webhook goes.
package struct WebhookPlace: Equatable, Sendable {
    package enum Line: Equatable, Sendable {
        /// A port of this machine, in the clear.
        case loopback(TCPAddress)
        /// A proxy's socket on this machine, which adds TLS and finds the host.
        case proxy(String)
    }

    package var url: String
    package var line: Line
    /// For the field Host.
    package var authority: String
    /// Path and query.
    package var target: String

    /// - Parameter proxy: path of the proxy's socket.
    /// - Returns: `nil` for what this machine cannot reach: no TLS is at hand here, and no names are looked up.
    package init?(url: String, proxy: String?) {
        let scheme = url.hasPrefix("http://") ? 7 : url.hasPrefix("https://") ? 8 : 0
        guard scheme > 0, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !url.contains("#"), !url.contains("@")
        else { return nil }
        let rest = url.dropFirst(scheme)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        authority = String(rest[..<end])
        target = (rest[end...].hasPrefix("/") ? "" : "/") + String(rest[end...])
        guard !authority.isEmpty else { return nil }
        self.url = url
        if let proxy {
            line = .proxy(proxy)
        } else {
            guard scheme == 7 else { return nil }
            let hasPort = TCPAddress(authority) != nil
            guard let address = TCPAddress(hasPort ? authority : authority + ":80"), address.isLoopback else {
                return nil
            }
            line = .loopback(address)
        }
    }
}

extension HubFile.Output {
    fileprivate init?(_ table: inout ConfigurationTable) {
        let name = table.text("name") ?? ""
        if !(1...32).contains(name.utf8.count) || !name.utf8.allSatisfy(Self.isPlain) {
            table.report("name", "is missing or not 1 to 32 letters, digits and dashes", "write name = \"house\"")
        }
        let lanes = table.texts("lanes")
        if lanes.isEmpty || !lanes.allSatisfy({ $0.isReference(upTo: 32) }) || Set(lanes).count != lanes.count {
            table.report(
                "lanes", "is missing or not a list of lanes", "name lanes of nfc-tapd.toml: lanes = [\"door\"]")
        }
        let kind = table.text("kind")
        let receiver: HubFile.Receiver? =
            switch kind {
            case "mqtt": Self.mqtt(&table, name, lanes)
            case "webhook": Self.webhook(&table)
            case "keyboard": Self.keyboard(&table)
            default: table.report("kind", "is missing or unknown", "write mqtt, webhook or keyboard")
            }
        let life = table.number("ttl-seconds", in: 0...604_800) ?? (kind == "webhook" ? 0 : 10)
        let rule = Self.rule(&table)
        guard let receiver else { return nil }
        self.init(name: name, receiver: receiver, lanes: lanes, rule: rule, life: life)
    }

    fileprivate var isKeyboard: Bool {
        if case .keyboard = receiver { true } else { false }
    }

    /// The id at the broker; `nil` for anything else.
    fileprivate var client: String? {
        if case .mqtt(let broker, let settings) = receiver { "\(broker) \(settings.client)" } else { nil }
    }

    /// The setting whose text some brokers do not deliver as it is; `nil` where all do.
    fileprivate var doubtfulKey: String? {
        guard case .mqtt(_, let settings) = receiver else { return nil }
        func isDoubtful(_ text: String) -> Bool { text.contains { $0 == "." || $0 == "*" || $0 == " " } }
        if lanes.contains(where: isDoubtful) { return "lanes" }
        if isDoubtful(settings.tapTopic) { return "prefix" }
        return settings.discovery.map { isDoubtful($0.prefix) } == true ? "discovery" : nil
    }

    /// Whether Home Assistant would find one scanner for the two, and one's taps.
    fileprivate func overwritesScanner(of other: Self) -> Bool {
        guard case .mqtt(let broker, let settings) = receiver, case .mqtt(broker, let others) = other.receiver else {
            return false
        }
        return settings.discovery != nil && settings.discovery?.topic == others.discovery?.topic
            && settings.tapTopic != others.tapTopic
    }

    private static func rule(_ table: inout ConfigurationTable) -> HubRule {
        var rule = HubRule()
        rule.programmes = Set(table.texts("programmes"))
        if rule.programmes.count > Limits.programmes
            || !rule.programmes.allSatisfy({ $0.isReference(upTo: Limits.programmeLength) })
        {
            table.report(
                "programmes", "is no list of programmes", "write up to \(Limits.programmes) ids of nfc-tapd.toml")
        }
        let kinds = table.texts("kinds")
        let known = HubRule.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        if kinds.contains(where: { HubRule.Kind(rawValue: $0) == nil }) {
            table.report("kinds", "has an entry that is unknown", "write some of \(known)")
        }
        if !kinds.isEmpty { rule.kinds = Set(kinds.compactMap { HubRule.Kind(rawValue: $0) }) }
        rule.takesRepeating = table.flag("repeating") ?? false
        return rule
    }

    private static func mqtt(
        _ table: inout ConfigurationTable, _ name: String, _ lanes: [String]
    ) -> HubFile.Receiver? {
        let broker = table.text("broker").flatMap { TCPAddress($0) }
        if broker?.isLoopback != true {
            table.report(
                "broker", "is missing or no port of this machine",
                "write broker = \"127.0.0.1:1883\", and let a broker there pass taps on with TLS")
        }
        let prefix = table.text("prefix") ?? "nfc-tap"
        let discovery = table.text("discovery")
        for (key, text) in [("prefix", prefix), ("discovery", discovery ?? "homeassistant")]
        where !MQTTPacket.isTopic(text) || text.hasPrefix("$") || text.hasPrefix("/") || text.hasSuffix("/") {
            table.report(key, "is no topic", "write letters, digits and dashes, without + and #")
        }
        let lane = lanes.first ?? ""
        if lanes.count > 1 {
            table.report("lanes", "names several lanes for one scanner", "write an output for each lane")
        } else if lane.contains("/") || lane.contains("+") || lane.contains("#") {
            table.report("lanes", "names a lane that is no part of a topic", "name the lane without / + #")
        }
        let client = table.text("client") ?? "nfc-tap-hub-\(name)"
        if !client.isReference(upTo: 65) {
            table.report("client", "is not 1 to 65 visible characters", "write client = \"nfc-tap-hub\"")
        }
        let user = table.text("user")
        let password = secret("password", &table)
        if password != nil, user == nil { table.report("password", "stands without user", "write user, too") }
        guard let broker else { return nil }
        var settings = MQTTSession.Settings(
            client: client, stateTopic: "\(prefix)/\(lane)/state", tapTopic: "\(prefix)/\(lane)/tag")
        settings.user = user
        settings.password = password
        settings.discovery = discovery.map { Discovery(prefix: $0, lane: lane) }
        return .mqtt(broker: broker, settings)
    }

    private static func webhook(_ table: inout ConfigurationTable) -> HubFile.Receiver? {
        let proxy = table.absolutePath("proxy")
        let url = table.text("url") ?? ""
        let place = WebhookPlace(url: url, proxy: proxy)
        if place == nil {
            table.report(
                "url", "is missing, or not to be reached from here without TLS",
                "write http://127.0.0.1:PORT/PATH, or name the socket of a proxy that adds TLS: proxy = \"/run/…\"")
        }
        let keys = ["key", "former-key"].map { key in
            secret(key, &table).map { text -> WebhookKey? in
                WebhookKey(text)
                    ?? table.report(
                        key, "names a file that has no whsec_ and Base64 of 24 to 64 bytes",
                        "make one: (printf whsec_; head -c 32 /dev/urandom | base64) >FILE")
            }
        }
        if keys[0] == nil { table.report("key", "is missing", "name a file with the receiver's whsec_ key") }
        guard let place else { return nil }
        return .webhook(place, keys.compactMap { $0 ?? nil })
    }

    private static func keyboard(_ table: inout ConfigurationTable) -> HubFile.Receiver? {
        var settings = KeyboardSettings()
        let known = KeyboardLayout.allCases.map(\.rawValue).joined(separator: " or ")
        let layout = KeyboardLayout(rawValue: table.text("layout") ?? "us")
        if layout == nil { table.report("layout", "is unknown", "write \(known), as the desktop has it") }
        if let layout { settings.layout = layout }
        settings.endsWithEnter = table.flag("enter") ?? false
        settings.prefix = table.text("prefix") ?? ""
        if settings.events(for: settings.prefix) == nil || settings.prefix.utf8.count > 32 {
            table.report(
                "prefix", "has a character without a key, or more than 32 of them", "write letters, digits and dashes")
        }
        return layout.map { _ in .keyboard(settings) }
    }

    /// A text in a file, without what stands around it.
    private static func secret(_ key: String, _ table: inout ConfigurationTable) -> String? {
        guard let path = table.absolutePath(key) else { return nil }
        return table.attempt { () throws(ConfigurationError) in
            let text = String(decoding: try table.contents(of: path, for: key), as: UTF8.self)
            let trimmed = text.drop { $0.isWhitespace }
            let end = trimmed.lastIndex { !$0.isWhitespace }
            guard let end, trimmed.utf8.count <= 1_024 else {
                throw table.wrong(key, "names a file that is empty or long", "write the secret alone into it")
            }
            return String(trimmed[...end])
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }
}
