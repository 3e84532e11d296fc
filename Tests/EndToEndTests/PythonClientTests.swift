// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The Python client, made from the contract as it is now, with the real daemon: what its own tests ask for is in
/// clients/python/tests.
@Suite("The Python client", .timeLimit(.minutes(5)))
struct PythonClientTests {
    @Test(
        "A package that is made from the contract reserves, captures, refunds, ends the day, and loses no sale with an answer"
    )
    func life() throws {
        let shop = try Shop()
        try shop.awaitReader()
        let present = try Program.tap.run(
            ["virtual", "--control", shop.readerSocket, "present", "visa"], in: shop.folder)
        #expect(present.status == 0, "\(present.errors)")
        let package = shop.folder.appending(path: "python").path
        let made = try Peer.run(Checkout.file("scripts/make-python-client.sh").path, [Peer.python, package])
        try #require(made.status == 0, "\(made.output)\(made.errors)")
        let result = try Peer.run(
            "/usr/bin/env", ["PYTHONPATH=\(package)", Peer.python, "\(package)/tests/life.py", shop.posSocket])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.errors.contains("Ran 10 tests") && result.errors.hasSuffix("OK\n"), "\(result.errors)")
    }
}
