// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import Testing

@Suite(.timeLimit(.minutes(5))) struct StartedProgramTests {
    private let shell = "/bin/sh"

    @Test func `a program is run to its end and what it says is kept`() throws {
        let run = try StartedProgram.run(shell, ["-c", "echo $WORD; exit 0"], environment: ["WORD=here"], keeping: 100)
        #expect(run.isSuccess && run.output == Array("here\n".utf8))
    }

    @Test func `output beyond the limit is dropped, and the program still ends`() throws {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"
        let run = try StartedProgram.run(shell, ["-c", script], environment: [], keeping: 10)
        #expect(run.isSuccess && run.output == Array("0123456789".utf8))
    }

    @Test func `a program that fails or is killed has not succeeded`() throws {
        #expect(try !StartedProgram.run(shell, ["-c", "exit 3"], environment: [], keeping: 10).isSuccess)
        let child = try StartedProgram("/bin/sleep", ["600"], output: nil)
        child.terminate()
        #expect(!child.waitUntilEnded())
    }

    @Test func `a program that is not there is told by its number`() {
        #expect(throws: SystemError(code: ENOENT)) { try StartedProgram("/nowhere/program", [], output: nil) }
        #expect(throws: SystemError(code: ENOENT)) { try StartedProgram.replaceThisOne(by: "/nowhere/program", []) }
    }

    @Test func `this program knows its folder and its variables`() throws {
        let own = try #require(Environment.program)
        let beside = try #require(Environment.beside("other"))
        #expect(own.hasPrefix("/") && beside.hasSuffix("/other"))
        #expect(beside.dropLast("other".count) == own[...(own.lastIndex(of: "/") ?? own.startIndex)])
        #expect(Environment.value("NFC_TAP_NO_SUCH_VARIABLE") == nil)
        #expect(Environment.value("PATH")?.isEmpty == false)
    }

    @Test func `users and groups are found by what they have`() {
        #expect(UserDatabase.name(ofUser: 0) == "root" && UserDatabase.number(ofGroup: "root") == 0)
        #expect(UserDatabase.name(ofUser: 4_294_967_000) == nil && UserDatabase.number(ofGroup: "no such group") == nil)
    }
}
