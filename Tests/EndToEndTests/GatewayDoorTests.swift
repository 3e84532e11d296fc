// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// What browsers, tills and strangers get of a running gateway with a daemon behind it. The requests and answers are those of the
/// table in docs/integrating/gateway.md.
@Suite("The gateway for browsers", .timeLimit(.minutes(5)))
struct GatewayDoorTests {
    private static let json = ["-H", "Content-Type: application/json"]

    @Test("A till sells, sees its sale on its stream, and the customer sees the amount and the end")
    func sale() throws {
        let place = try GatewayShop()
        try place.present("visa")
        let token = try place.pair("bar-1")
        let display = try place.pair("display-1", ["--lane", "main", "--role", "display"])
        let events = try place.stream("/v1/events", token)
        let view = try place.stream("/v1/display", display)
        try place.shop.eventually("a view") { place.text(view.file).contains("\"phase\":\"idle\"") }
        let sold = try place.sell(token, 1_250, order: "A-17", key: "A-17/1")
        #expect(sold.status == 201 && sold.state == "approved", "\(sold.text)")
        #expect(sold.json["till"] as? String == "bar-1")
        let id = try #require(sold.id)
        try place.shop.eventually("the event") {
            place.text(events.file).contains("event: payment.approved") && place.text(events.file).contains(id)
        }
        try place.shop.eventually("the view") { place.text(view.file).contains("\"phase\":\"approved\"") }
        let shown = place.text(view.file)
        #expect(shown.contains("\"phase\":\"ready\"") && shown.contains("1250"))
        // The networks that are taken are named to everybody, the card's own to nobody.
        let withoutNetworks = shown.replacing(#/"networks":\[[^\]]*\]/#, with: "")
        #expect(withoutNetworks != shown)
        for word in [id, "0010", "Visa", "A-17"] { #expect(!withoutNetworks.contains(word), "\(word)") }
        let picture = try place.call("GET", "/v1/transactions/\(id)/receipt.svg", token: token)
        #expect(picture.status == 200 && picture.text.contains("<svg"), "\(picture.text)")
        #expect(picture.fields["content-type"] == "image/svg+xml")
        try place.shop.eventually("the code for the customer") { place.text(view.file).contains("data:image/svg+xml") }
        try receipt(place, display: display, cashier: token, of: view.file)
    }

    /// Row 24 of the guidance: the display has the receipt sent once, and the address stays nowhere.
    private func receipt(_ place: GatewayShop, display: String, cashier: String, of view: URL) throws {
        let path = "/v1/display/receipt"
        func word() -> String? {
            place.text(view).firstMatch(of: #/"receiptWord":"([a-z0-9]+)"/#).map { String($0.output.1) }
        }
        try place.shop.eventually("the word for a receipt") { word() != nil }
        let known = try #require(word())
        func wish(_ word: String, _ to: String = #"{"email":"ada.secret@example.com"}"#) -> String {
            #"{"word":"\#(word)","to":\#(to)}"#
        }
        let other = try place.call("POST", path, token: display, body: wish("another"))
        #expect(other.status == 409 && other.code == "receipt.not_available", "\(other.text)")
        let unclear = try place.call("POST", path, token: display, body: wish(known, #"{"email":"ada@"}"#))
        #expect(unclear.status == 400 && unclear.code == "request.invalid_field", "\(unclear.text)")
        let stranger = try place.call("POST", path, token: cashier, body: wish(known))
        #expect(stranger.status == 403 && stranger.code == "auth.role_missing")
        let sent = try place.call("POST", path, token: display, body: wish(known))
        #expect(sent.status == 204, "\(sent.text)")
        let again = try place.call("POST", path, token: display, body: wish(known))
        #expect(again.status == 409 && again.code == "receipt.not_available", "\(again.text)")
        let files = FileManager.default.enumerator(at: place.shop.folder, includingPropertiesForKeys: nil)
        for case let file as URL in try #require(files) where (try? file.checkResourceIsReachable()) == true {
            guard let bytes = try? Data(contentsOf: file) else { continue }
            #expect(bytes.range(of: Data("ada.secret".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test("Names, pages and methods that have no business here are refused, before anything reaches the daemon")
    func strangers() throws {
        let place = try GatewayShop()
        let token = try place.pair("bar-1")
        let own = try place.call("GET", "/v1/status", token: token)
        #expect(own.status == 200 && own.fields["access-control-allow-origin"] == nil)
        let rebound = try place.call("GET", "/v1/status", token: token, ["-H", "Host: evil.example:\(place.port)"])
        #expect(rebound.status == 421 && rebound.code == "host.refused" && !rebound.text.contains("lanes"))
        let doubled = try place.call(
            "GET", "/v1/status", token: token,
            ["-H", "Host: 127.0.0.1:\(place.port)", "-H", "Host: 127.0.0.1:\(place.port)"])
        // curl sends one of two; a raw request has both.
        #expect(doubled.status == 200)
        let raw = try Peer.run(
            "/bin/bash",
            [
                "-c",
                "exec 3<>/dev/tcp/127.0.0.1/\(place.port); printf 'GET /v1/status HTTP/1.1\\r\\nHost: 127.0.0.1:\(place.port)\\r\\nHost: 127.0.0.1:\(place.port)\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -n 1 <&3",
            ])
        #expect(raw.output.hasPrefix("HTTP/1.1 400"), "\(raw.output)")
        let listed = try place.call("GET", "/v1/status", token: token, ["-H", "Origin: \(GatewayShop.origin)"])
        #expect(listed.status == 200 && listed.fields["access-control-allow-origin"] == GatewayShop.origin)
        #expect(listed.fields["vary"] == "Origin" && listed.fields["access-control-allow-credentials"] == nil)
        for origin in ["https://pos.example.evil.example", "null", "http://127.0.0.1:1"] {
            let refused = try place.call("GET", "/v1/status", token: token, ["-H", "Origin: \(origin)"])
            #expect(refused.status == 403 && refused.code == "origin.refused", "\(origin)")
            #expect(!refused.fields.keys.contains { $0.hasPrefix("access-control") }, "\(origin)")
        }
        let asked = try place.call(
            "OPTIONS", "/v1/transactions",
            ["-H", "Origin: \(GatewayShop.origin)", "-H", "Access-Control-Request-Method: POST"])
        #expect(asked.status == 204 && asked.fields["access-control-allow-origin"] == GatewayShop.origin)
        #expect(asked.fields["access-control-allow-methods"] == "GET, POST, DELETE")
        #expect(asked.fields["access-control-max-age"] == "600")
        #expect(asked.fields["access-control-allow-headers"]?.contains("authorization") == true)
        #expect(!asked.fields.keys.contains("access-control-allow-private-network"))
        let form = try place.call(
            "POST", "/v1/transactions", token: token, body: GatewayShop.sale(1, order: "X"),
            ["-H", "Content-Type: text/plain"])
        #expect(form.status == 415)
        let nobody = try place.call(
            "POST", "/v1/transactions", body: GatewayShop.sale(1, order: "X"), ["-H", "Origin: \(GatewayShop.origin)"])
        #expect(nobody.status == 401 && nobody.fields["access-control-allow-origin"] == GatewayShop.origin)
        #expect(nobody.fields["www-authenticate"] == "Bearer")
        let named = try place.call("GET", "/v1/status", token: token, ["-H", "NFC-Tap-On-Behalf-Of: bar-2"])
        #expect(named.status == 400)
        for path in [
            "/../../etc/passwd", "/till/%2e%2e/%2e%2e/etc/passwd", "/till//till.html", "/till/nothing", "/metrics",
        ] {
            #expect(try place.call("GET", path).status == 404, "\(path)")
        }
        #expect([400, 404].contains(try place.call("GET", "/till/%00").status))
        #expect((try place.shop.get("/v1/transactions")["transactions"] as? [Any])?.isEmpty == true)
    }

    @Test("Pages come with what keeps strangers' scripts out, and are asked for again by their tag")
    func pages() throws {
        let place = try GatewayShop()
        let page = try place.call("GET", "/till/")
        #expect(page.status == 200 && page.text.contains("<title>till</title>"))
        #expect(page.fields["content-security-policy"]?.contains("default-src 'none'") == true)
        #expect(page.fields["content-security-policy"]?.contains("require-trusted-types-for 'script'") == true)
        #expect(page.fields["x-content-type-options"] == "nosniff" && page.fields["cache-control"] == "no-cache")
        let tag = try #require(page.fields["etag"])
        #expect(try place.call("GET", "/till/", ["-H", "If-None-Match: \(tag)"]).status == 304)
        #expect(try place.call("GET", "/till/messages/en.json").text == "{}")
        let moved = try place.call("GET", "/till/", ["-H", "Host: localhost:\(place.port)"])
        #expect(moved.status == 308 && moved.fields["location"] == "http://127.0.0.1:\(place.port)/till/")
    }

    @Test("A till sells what it was paired for, on its own lanes, and knows nothing of another till's sale")
    func rights() throws {
        let place = try GatewayShop(lanes: ["other"])
        try place.present("visa")
        try place.present("visa", on: "other")
        let first = try place.pair("bar-1")
        let second = try place.pair("bar-2")
        let refund = "{\"type\":\"refund\",\"amount\":{\"value\":100,\"currency\":\"EUR\"}}"
        #expect(
            try place.call("POST", "/v1/transactions", token: first, key: "R", body: refund).code == "auth.role_missing"
        )
        let other = GatewayShop.sale(100, order: "L", lane: "other")
        #expect(
            try place.call("POST", "/v1/transactions", token: first, key: "L", body: other).code == "lane.not_yours")
        // One key of two tills is two keys.
        let one = try place.sell(first, 1_000, order: "K-1", key: "K", lane: "main")
        let two = try place.sell(second, 2_000, order: "K-2", key: "K", lane: "main")
        #expect(one.state == "approved" && two.state == "approved" && one.id != two.id)
        let id = try #require(one.id)
        for (method, path) in [("GET", ""), ("DELETE", ""), ("GET", "/receipt"), ("GET", "/receipt.svg")] {
            let refused = try place.call(method, "/v1/transactions/\(id)\(path)", token: second)
            #expect(refused.code == "session.not_owner", "\(method) \(path): \(refused.text)")
        }
        let list = try place.call("GET", "/v1/transactions", token: second).json["transactions"] as? [[String: Any]]
        #expect(list?.compactMap { $0["id"] as? String } == [two.id].compactMap { $0 })
    }

    @Test("A wrong code is counted, a right one holds once, and five wrong ones end it")
    func pairing() throws {
        let place = try GatewayShop()
        let code = try place.code("bar-1", ["--lane", "main", "--role", "cashier"])
        #expect(try place.redeem(code).status == 201)
        let again = try place.redeem(code)
        #expect(again.status == 410 && again.code == "pairing.used")
        let guessed = try place.code("bar-2", ["--lane", "main", "--role", "cashier"])
        for _ in 0..<5 { #expect(try place.redeem("AAAA-AAAA").code == "pairing.unknown") }
        let late = try place.redeem(guessed)
        #expect([410, 429].contains(late.status) && late.json["token"] == nil)
        let listed = try place.command("tills")
        #expect(listed.output.hasPrefix("bar-1\tcashier\tpurchase\tmain"))
        let file = try String(contentsOf: place.shop.folder.appending(path: "tills.json"), encoding: .utf8)
        #expect(!file.contains("nt1."))
        let mode =
            try FileManager.default.attributesOfItem(
                atPath: place.shop.folder.appending(path: "tills.json").path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A revoked till's stream ends, its token is nobody's, and its name is never paired again")
    func revoked() throws {
        let place = try GatewayShop()
        let token = try place.pair("bar-1")
        let stream = try place.stream("/v1/events", token)
        try place.shop.eventually("the stream") {
            FileManager.default.fileExists(atPath: stream.file.path) || stream.process.isRunning
        }
        try place.shop.eventually("an open stream") { try place.call("GET", "/v1/status", token: token).status == 200 }
        #expect(try place.command("revoke", "bar-1").status == 0)
        try place.shop.eventually("the stream's end") { !stream.process.isRunning }
        #expect(try place.call("GET", "/v1/status", token: token).code == "token.unknown")
        let again = try place.command("pair", "--till", "bar-1", "--lane", "main", "--role", "cashier")
        #expect(again.status == 1 && again.errors.contains("revoked"))
        #expect(try place.command("revoke", "bar-9").status == 1)
    }

    @Test("A token is changed without a moment in which the till has none")
    func rotated() throws {
        let place = try GatewayShop()
        let old = try place.pair("bar-1")
        #expect(
            try place.call("POST", "/v1/till/token", token: old, ["-H", "Content-Length: 0"]).code == "token.not_due")
        #expect(try place.command("rotate", "bar-1").status == 0)
        #expect(try place.call("GET", "/v1/till", token: old).fields["nfc-tap-token-rotate"] == "1")
        let answer = try place.call("POST", "/v1/till/token", token: old, ["-H", "Content-Length: 0"])
        let new = try #require(answer.json["token"] as? String)
        #expect(try place.call("GET", "/v1/till", token: old).status == 200)
        #expect(try place.call("GET", "/v1/till", token: new).fields["nfc-tap-token-rotate"] == nil)
        #expect(try place.call("GET", "/v1/till", token: old).status == 401)
    }

    @Test("Tills in a hurry are told to wait, and others are not")
    func paced() throws {
        let place = try GatewayShop(pace: 1)
        let first = try place.pair("bar-1")
        let second = try place.pair("bar-2")
        var answers: [GatewayShop.Answer] = []
        for _ in 0..<6 { answers.append(try place.call("GET", "/v1/till", token: first)) }
        let refused = try #require(answers.first { $0.status == 429 }, "\(answers.map(\.status))")
        #expect(refused.code == "rate.exceeded" && refused.fields["retry-after"] != nil)
        #expect(try place.call("GET", "/v1/till", token: second).status == 200)
    }

    @Test("Without its daemon the gateway says so, and keeps serving its pages")
    func daemonAway() throws {
        let place = try GatewayShop()
        let token = try place.pair("bar-1")
        let display = try place.pair("display-1", ["--lane", "main", "--role", "display"])
        let view = try place.stream("/v1/display", display)
        place.shop.killDaemon()
        try place.shop.eventually("the display to know") { place.text(view.file).contains("\"phase\":\"offline\"") }
        let away = try place.call("GET", "/v1/status", token: token)
        #expect(away.status == 503 && away.code == "daemon.unavailable" && away.fields["retry-after"] != nil)
        #expect(try place.call("GET", "/v1/events", token: token).code == "daemon.unavailable")
        #expect(try place.call("GET", "/till/").status == 200)
        try place.shop.startDaemon()
        try place.shop.eventually("the daemon") { try place.call("GET", "/v1/status", token: token).status == 200 }
    }

    @Test("Who was refused stands in the daemon's audit chain, and a flood of them in few lines")
    func audited() throws {
        let place = try GatewayShop()
        _ = try place.pair("bar-1")
        _ = try place.call("GET", "/v1/status", ["-H", "Origin: https://evil.example"])
        let begin = ContinuousClock.now
        for _ in 0..<40 {
            _ = try place.call("GET", "/v1/status", token: "nt1.bar-1." + String(repeating: "A", count: 43))
        }
        var lines: [Substring] = []
        try place.shop.eventually("the audit entries") {
            let audit = try place.audit()
            lines = audit.split(separator: "\n").filter { $0.contains("token.unknown") }
            let counted = lines.compactMap { $0.firstMatch(of: /token\.unknown (\d+)/).flatMap { Int($0.1) } }
            return audit.contains("origin.refused 1") && counted.reduce(0, +) == 40
        }
        // One a second at most, however long forty calls take.
        let most = Int((ContinuousClock.now - begin).components.seconds) + 2
        #expect(lines.count <= most && lines.allSatisfy { $0.contains("bar-1") }, "\(lines)")
    }

    @Test("A display's address carries the code that pairs it, and the display sees nothing else")
    func kiosk() throws {
        let place = try GatewayShop()
        let address = try place.command("--kiosk-url", "--lane", "main").output
        let parts = address.trimmingCharacters(in: .whitespacesAndNewlines).components(separatedBy: "#code=")
        #expect(parts.first == "http://127.0.0.1:\(place.port)/display/")
        let token = try #require(try place.redeem(parts.last ?? "").json["token"] as? String)
        for path in ["/v1/status", "/v1/transactions", "/v1/events", "/v1/lanes/main"] {
            #expect(try place.call("GET", path, token: token).code == "auth.role_missing", "\(path)")
        }
        #expect(try place.call("GET", "/v1/display?lane=other", token: token).code == "lane.not_yours")
    }

    @Test("Without options a till gets a number and the shop's only lane; which of several has to be said")
    func pairingWithoutOptions() throws {
        let place = try GatewayShop(lanes: ["other"])
        let several = try place.command("pair")
        #expect(several.status == 1 && several.errors.contains("--lane: name one of "), "\(several.errors)")
        let first = try place.command("pair", "--lane", "main").output
        #expect(first.hasPrefix("Code for till-1: ") && first.contains("http://127.0.0.1:\(place.port)/till/#code="))
        // Nobody has typed the first code yet, and it holds on.
        #expect(try place.command("pair", "--lane", "main").output.hasPrefix("Code for till-2: "))
        let display = try place.command("pair", "--lane", "main", "--role", "display").output
        #expect(display.hasPrefix("Code for display-1: ") && display.contains("/display/#code="))
        let code = String(first.dropFirst("Code for till-1: ".count).prefix(9))
        let paired = try place.redeem(code)
        #expect(paired.status == 201 && paired.json["roles"] as? [String] == ["cashier"])
    }

    @Test("An address that other machines reach is refused with what to do instead")
    func beyondLoopback() throws {
        let place = try GatewayShop()
        let result = try place.command("serve", "--listen", "0.0.0.0:0")
        #expect(result.status == 1 && result.errors.contains("reverse proxy with TLS"))
    }
}
