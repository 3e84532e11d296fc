// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Envelope
import Glibc
import Issuing
import Linux
import LocalHTTP
import PSPAPI
import PaymentValues
import Profile
import ServiceProgram

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify a token and print what is in it.")

    @Argument(help: ArgumentHelp("Token in a file; - for standard input.", valueName: "token"))
    var token: String

    @Option(help: ArgumentHelp("Public JWK that it has to be signed with.", valueName: "file"))
    var key: String

    func run() async throws {
        try await ProfileCommand.run {
            let text = String(decoding: try ProfileCommand.read(token), as: UTF8.self)
            let bare = text.filter { !$0.isWhitespace }
            let own = try PublicKeys.read(key)
            let signed = try SignedProfile(token: bare, key: own)
            let payload = try JWS.verify(bare, with: own, type: SignedProfile.type)
            let profile = signed.profile
            ProfileCommand.say(
                "\(profile.merchant.id): serial \(profile.serial), \(profile.isLive ? "live" : "test"), from "
                    + "\(profile.issuedAt) to \(profile.expiresAt)" + (profile.terms.isRevoked ? ", terms revoked" : "")
            )
            try ProfileCommand.print(String(decoding: payload, as: UTF8.self))
        }
    }
}

struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what changes from one profile to another.",
        discussion: "Profiles as JSON or as tokens. Does not verify a token's signature: use show for that.")

    @Argument(help: ArgumentHelp("Profile or token.", valueName: "before"))
    var before: String

    @Argument(help: ArgumentHelp("Profile or token.", valueName: "after"))
    var after: String

    private func payload(_ path: String) throws(IssuingError) -> [UInt8] {
        let bytes = try ProfileCommand.read(path)
        let parts = bytes.filter { $0 > 0x20 }.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if parts.count == 3, let payload = Base64URL.decode(parts[1]) { return payload }
        return bytes
    }

    func run() async throws {
        try await ProfileCommand.run {
            for line in try ProfileDraft.differences(try payload(before), try payload(after)) {
                try ProfileCommand.print(line)
            }
        }
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve a merchant's kept profile on a Unix socket, so that a daemon can be tried with it.",
        discussion: """
            Answers GET /v1/health, /v1/keys and /v1/profile of the adapter's contract, and no payment. Always serves \
            the latest token of the store: the daemon gets a renewed profile at its next refresh.
            """)

    @Option(help: ArgumentHelp("Unix socket to listen at.", valueName: "path"))
    var socket: String

    @Option(help: ArgumentHelp("Folder of the issued profiles.", valueName: "folder"))
    var store: String

    @Option(help: ArgumentHelp("merchant.id", valueName: "merchant"))
    var merchant: String

    func run() async throws {
        let program = ServiceProgram("nfc-tap-profile")
        let (store, merchant) = (store, merchant)
        let needed = HTTPLimits().descriptors + DescriptorLimit.ofProcess
        if let shortage = DescriptorLimit.provide(needed) {
            program.say("connections \(shortage.problem): raise ulimit -n to \(shortage.needed)")
        }
        let server = HTTPServer(socket: try ListeningSocket(path: socket), limits: HTTPLimits(), logger: program.logger)
        {
            Self.answer($0, store, merchant)
        }
        try await program.serve {
            program.say("listening at \(socket)")
        } stop: {
            server.shutDown(grace: .seconds(1))
        } _: { () async throws(ListenError) in
            try await server.run()
        }
    }

    private static func answer(_ request: HTTPRequest, _ store: String, _ merchant: String) -> HTTPResponse {
        switch (request.method, request.path) {
        case (.get, ["v1", "health"]):
            json(
                200,
                AdapterHealth(
                    status: .ok, protocolVersions: ["v1"], supports: [], keyLife: AdapterHealth.defaultKeyLife))
        case (.get, ["v1", "profile"]), (.get, ["v1", "keys"]):
            if let issued = try? IssuedProfiles.latest(merchant, in: store) {
                request.path == ["v1", "keys"]
                    ? .json(200, Array(issued.profile.recipientKeys.jwks.utf8))
                    : HTTPResponse(
                        status: 200, fields: ["Content-Type": "application/jose"],
                        body: .bytes(Array(issued.token.utf8)))
            } else {
                json(404, ErrorBody(.credentialMissing))
            }
        default: json(404, ErrorBody(.requestUnknownPath))
        }
    }

    private static func json(_ status: Int, _ message: some Encodable) -> HTTPResponse {
        .json(status, (try? WireJSON.encode(message)) ?? [])
    }
}
