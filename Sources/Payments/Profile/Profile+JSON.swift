// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
import EMV
import Envelope
public import PaymentValues
import TerminalFile

extension Profile {
    /// In whose minor units the terminal's limits count: those of the one currency that it names, or else of each that is accepted.
    public var currenciesOfLimits: [Currency] {
        guard let own = terminal.currency else { return currencies }
        return currencies.filter { $0.code == own.letters }
    }

    /// Reads a profile, signed or not. Its period is not checked here: see `checkPeriod`.
    ///
    /// - Throws: the first fault, with its member.
    public init(json: [UInt8]) throws(ProfileError) {
        let file = try ProfileValue(file: json)
        // Profiles that were signed before 2026-11-28 have the name of the service as `issuer`.
        let (name, former) = (try file.optional("serviceName"), try file.optional("issuer"))
        let nameKey = name == nil && former != nil ? "issuer" : "serviceName"
        try file.object([
            "version", "serial", nameKey, "issuedAt", "expiresAt", "merchant", "terms", "currencies",
            "acceptedNetworks", "terminal", "recipientKeys", "offline", "receiptTokenKey", "software", "charges",
        ])
        _ = try file.member("version").number(in: 1...1)
        // Greater numbers are not the same in every JSON reader (RFC 8259 §6).
        serial = try file.member("serial").number(in: 1...9_007_199_254_740_991)
        serviceName = try file.member(nameKey).line(1...64)
        issuedAt = try file.member("issuedAt").time()
        expiresAt = try file.member("expiresAt").time()
        guard issuedAt < expiresAt else { throw .period("expiresAt") }
        merchant = try Merchant(file.member("merchant"))
        terms = try Terms(file.member("terms"))
        currencies = try file.member("currencies").list { (value) throws(ProfileError) in try value.currency() }
        acceptedNetworks = try file.member("acceptedNetworks").list { (value) throws(ProfileError) in
            try value.network()
        }
        let terminal = try file.member("terminal")
        self.terminal = try terminal.terminalFile()
        if let own = self.terminal.currency, !currencies.contains(where: { $0.code == own.letters }) {
            throw .currency(try terminal.member("currency").path)
        }
        try Profile.check(acceptedNetworks, file.member("acceptedNetworks"), self.terminal, terminal.path)
        recipientKeys = try file.member("recipientKeys").recipientKeys()
        if let software = try file.optional("software") {
            self.software = try Software(software)
        } else {
            software = Software(minimum: nil, deprecatedFrom: nil, readers: [])
        }
        if let charges = try file.optional("charges") {
            try charges.object(["customer"])
            customerCharges = try charges.member("customer").flag()
        } else {
            customerCharges = false
        }
        let tokenKey = try file.optional("receiptTokenKey")
        receiptTokenKey =
            if let tokenKey { try tokenKey.verificationKey() } else { nil }
        if let offline = try file.optional("offline") {
            // Without it no batch could ever be deleted.
            guard tokenKey != nil else { throw .member(.missing("receiptTokenKey")) }
            self.offline = try OfflineLimits(offline, currencies: currencies, networks: acceptedNetworks)
        } else {
            offline = nil
        }
    }

    /// What is accepted and what the terminal can do must be the same: a difference is somebody's mistake.
    private static func check(
        _ networks: [String], _ list: ProfileValue, _ terminal: TerminalFile, _ path: String
    ) throws(ProfileError) {
        let offered = terminal.configuration.combinations.map { PaymentNetwork.name(of: $0.aid) }
        if let place = offered.firstIndex(where: { !networks.contains($0) }) {
            throw .networkNotAccepted("\(path).combinations[\(place)].aid")
        }
        if let place = networks.firstIndex(where: { !offered.contains($0) }) {
            throw .networkWithoutApplication("\(list.path)[\(place)]")
        }
    }
}

extension Profile.Merchant {
    fileprivate init(_ value: ProfileValue) throws(ProfileError) {
        try value.object(["id", "displayName", "statementDescriptor", "addressLines", "onBehalfOf", "country"])
        id = try value.member("id").line(1...64)
        displayName = try value.member("displayName").line(1...64)
        statementDescriptor = try value.optionalLine("statementDescriptor", 1...22)
        if let lines = try value.optional("addressLines") {
            addressLines = try lines.lines(atMost: 8, 1...64)
        } else {
            addressLines = []
        }
        onBehalfOf = try value.optionalLine("onBehalfOf", 1...64)
        let number = try value.member("country")
        guard let code = CountryCode(numeric: try number.number(in: 1...999)) else {
            throw .member(.country(number.path))
        }
        country = code.numeric
    }
}

extension Profile.Terms {
    fileprivate init(_ value: ProfileValue) throws(ProfileError) {
        try value.object(["version", "text", "revoked", "page", "acceptance"])
        let isRevoked = try value.optional("revoked")?.flag() ?? false
        let page = try value.optional("page")
        self.init(
            version: try value.member("version").line(1...32), text: try value.member("text").text(1...100_000),
            isRevoked: isRevoked, page: try page?.address(),
            acceptance: try value.optional("acceptance")?.text(1...Limits.acceptanceFileLength))
    }
}

extension Profile.Software {
    fileprivate init(_ value: ProfileValue) throws(ProfileError) {
        try value.object(["minimum", "deprecatedFrom", "readers"])
        minimum = try value.optional("minimum")?.version()
        deprecatedFrom = try value.optional("deprecatedFrom")?.time()
        var models: [String] = []
        readers =
            try value.optional("readers")?.list { (value) throws(ProfileError) in
                try value.object(["model", "minimum"])
                let model = try value.member("model").line(1...64)
                guard !models.contains(model) else { throw .repeated("\(value.path).model") }
                models.append(model)
                return ReaderMinimum(model: model, firmware: try value.member("minimum").firmware())
            } ?? []
    }
}

extension OfflineLimits {
    fileprivate init(
        _ value: ProfileValue, currencies: [Currency], networks: [String]
    ) throws(ProfileError) {
        try value.object(["count", "ceilings", "networks", "maximumAge", "rebootAllowed"])
        count = Int(try value.member("count").number(in: 1...10_000))
        let ceilings = try value.member("ceilings").elements()
        guard !ceilings.isEmpty else { throw .empty("\(value.path).ceilings") }
        var list: [Ceiling] = []
        for element in ceilings {
            let ceiling = try Ceiling(element, currencies: currencies)
            guard !list.contains(where: { $0.currency == ceiling.currency }) else {
                throw .repeated("\(element.path).currency")
            }
            list.append(ceiling)
        }
        self.ceilings = list
        self.networks = try value.member("networks").list { (element) throws(ProfileError) in
            let network = try element.network()
            guard networks.contains(network) else { throw .networkNotAccepted(element.path) }
            return network
        }
        // A day at least an hour, a month at most: whoever stores for longer will not be paid.
        maximumAge = Int(try value.member("maximumAge").number(in: 60...2_678_400))
        rebootAllowed = try value.member("rebootAllowed").flag()
    }
}

extension OfflineLimits.Ceiling {
    fileprivate init(_ value: ProfileValue, currencies: [Currency]) throws(ProfileError) {
        try value.object(["currency", "amount", "total"])
        currency = try value.member("currency").currency()
        guard currencies.contains(currency) else { throw .currency("\(value.path).currency") }
        amount = Int64(try value.member("amount").number(in: 1...UInt64(Limits.amount)))
        total = Int64(try value.member("total").number(in: UInt64(amount)...UInt64(Limits.amount) * 1_000))
    }
}
