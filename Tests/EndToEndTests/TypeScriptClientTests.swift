// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The TypeScript client, made from the contract as it is now and compiled, with servers that cut and refuse and with the real
/// daemon: what its own tests ask for is in clients/typescript/tests.
@Suite("The TypeScript client", .timeLimit(.minutes(5)))
struct TypeScriptClientTests {
    @Test(
        "A package that is made from the contract compiles, sells, captures, follows events, and loses no sale with an answer"
    )
    func life() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let present = try Program.tap.run(
            ["virtual", "--control", shop.readerSocket, "present", "visa"], in: shop.folder)
        #expect(present.status == 0, "\(present.errors)")
        let package = shop.folder.appending(path: "typescript").path
        let made = try Peer.run(Checkout.file("clients/make-typescript-client.sh").path, [Peer.python, package])
        try #require(made.status == 0, "\(made.output)\(made.errors)")
        let result = try Peer.run(
            "/usr/bin/env",
            [
                "NFC_TAP_POS=\(shop.posSocket)", "node", "--test", "\(package)/tests/wire.test.js",
                "\(package)/tests/life.test.js",
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains("# pass 15\n") && result.output.contains("# fail 0\n"), "\(result.output)")
    }
}
