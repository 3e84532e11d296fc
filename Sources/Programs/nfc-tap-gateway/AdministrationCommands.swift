// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Gateway
import LocalHTTP
import PaymentValues

/// Where the running gateway takes commands.
struct GatewayLocation: ParsableArguments {
    @Option(
        name: .customLong("runtime-directory"),
        help: ArgumentHelp("Folder with the socket for commands.", valueName: "folder"))
    var folder = "/run/nfc-tap-gateway"

    var socket: String { "\(folder)/admin.sock" }

    func open(_ draft: TillDraft) async throws -> GatewayAdministration.Code {
        let body = try WireJSON.encode(draft)
        let answer = try await ask(.post, "/pairings", body)
        return try WireJSON.decode(GatewayAdministration.Code.self, from: answer)
    }

    /// - Returns: the body of the answer; what is wrong is printed, and ends the command.
    func ask(_ method: HTTPMethod, _ target: String, _ body: [UInt8] = []) async throws -> [UInt8] {
        let request = HTTPClientRequest(
            method, target, fields: body.isEmpty ? [:] : ["Content-Type": "application/json"], body: body)
        let answer: HTTPClientAnswer
        do throws(HTTPClientError) {
            answer = try await HTTPClient(path: socket).send(request, answerWithin: .seconds(10))
        } catch {
            switch error {
            case .notConnected(.accessDenied): complain("\(socket) may be opened by root only; use sudo")
            default: complain("\(socket): \(error); start it: systemctl start nfc-tap-gateway.socket nfc-tap-gateway")
            }
            throw ExitCode(1)
        }
        if answer.status / 100 == 2 { return answer.body }
        let fault = try? WireJSON.decode(GatewayAdministration.Fault.self, from: answer.body)
        complain(fault?.fault ?? "refused with status \(answer.status); repeat it as root")
        throw ExitCode(1)
    }
}

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Make a code that turns a page or a program into a till; it works once, within five minutes.")

    @Option(
        help: ArgumentHelp(
            "Name of the till: 1 to 32 of a-z, 0-9 and -. Default: till-1, till-2 and so on.", valueName: "name"))
    var till = ""

    @Option(
        help: ArgumentHelp(
            "Lane that the till may use; may be repeated. The first is the till's own. Default: the daemon's only lane.",
            valueName: "name"))
    var lane: [String] = []

    @Option(
        help: ArgumentHelp(
            "cashier, manager, loyalty, monitor or display; may be repeated. Default: cashier.", valueName: "role"))
    var role: [String] = []

    @Option(
        help: ArgumentHelp(
            "purchase, refund, verification, loyalty, link or handover; may be repeated. Default: purchase, for a cashier.",
            valueName: "type"))
    var type: [String] = []

    @Option(
        help: ArgumentHelp("Origin of the page, if another server serves it: https://pos.example.", valueName: "origin")
    )
    var origin: [String] = []

    @OptionGroup var place: GatewayLocation

    func run() async throws {
        var roles = try role.map { word in
            guard let role = TillRole(rawValue: word) else {
                complain("--role: \(word) is not a role; write cashier, manager, loyalty, monitor or display")
                throw ExitCode(1)
            }
            return role
        }
        if roles.isEmpty { roles = [.cashier] }
        var types = try type.map { word in
            guard let type = TransactionType(rawValue: word) else {
                complain(
                    "--type: \(word) is not a type; write purchase, refund, verification, loyalty, link or handover")
                throw ExitCode(1)
            }
            return type
        }
        if types.isEmpty, !Set([.cashier, .manager]).isDisjoint(with: roles) { types = [.purchase] }
        if types.isEmpty, roles.contains(.loyalty) { types = [.loyalty] }
        let draft = TillDraft(till: till, roles: roles, lanes: lane, types: types, origins: origin)
        let code = try await place.open(draft)
        say("Code for \(code.till): \(code.code)   (5 minutes, once)")
        say("Open \(code.address) in this machine's browser")
    }
}

struct TillsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tills", abstract: "List the tills.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var place: GatewayLocation

    func run() async throws {
        let answer = try await place.ask(.get, "/tills")
        if json { return say(String(decoding: answer, as: UTF8.self)) }
        for till in try WireJSON.decode([GatewayAdministration.Listed].self, from: answer) {
            let state =
                till.revokedAt.map { "revoked \($0.description.prefix(10))" } ?? "used \(till.lastUsedOn ?? "never")"
            let rights = [
                till.roles.map(\.rawValue).joined(separator: ","), till.types.map(\.rawValue).joined(separator: ","),
                till.lanes.joined(separator: ","), till.origins.joined(separator: ","),
            ]
            say(([till.till] + rights + [state]).joined(separator: "\t"))
        }
    }
}

struct RevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "End a till for good; its running transactions go on.")

    @Argument(help: ArgumentHelp("Name of the till.", valueName: "till"))
    var till: String

    @OptionGroup var place: GatewayLocation

    func run() async throws {
        _ = try await place.ask(.delete, "/tills/" + HTTPClientRequest.percentEncoded(till))
    }
}

struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Have a till fetch a new token; the old token ends once the new one is used.")

    @Argument(help: ArgumentHelp("Name of the till.", valueName: "till"))
    var till: String

    @OptionGroup var place: GatewayLocation

    func run() async throws {
        _ = try await place.ask(.post, "/tills/" + HTTPClientRequest.percentEncoded(till) + "/rotation")
    }
}
