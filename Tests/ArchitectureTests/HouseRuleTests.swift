// SPDX-License-Identifier: Apache-2.0
import Testing

struct HouseRuleTests {
    /// Understood once for all rules.
    private static let files: Result<[HouseRules.File], any Error> = Result {
        try SourceTree.swiftFiles().map { ($0.path, SwiftSource($0.lines.joined(separator: "\n"))) }
    }

    private var files: [HouseRules.File] { get throws { try Self.files.get() } }
    private var paths: [String] { get throws { try files.map(\.path) } }

    @Test func `outside the room for POSIX a file has at most three unsafe expressions without a reason`() throws {
        #expect(try HouseRules.unsafeFiles(files.filter { !$0.path.hasPrefix("Sources/System/Linux/") }) == [])
    }

    @Test func `a type has at most fifteen stored properties, or says why it has more`() throws {
        let crowded = try HouseRules.crowdedTypes(files)
        #expect(crowded == [])
    }

    @Test func `an actor has at most thirty methods, those of its extensions counted`() throws {
        let busy = try HouseRules.busyActors(files)
        #expect(busy == [])
    }

    @Test func `the daemon's room has no file at its top but its entry`() throws {
        #expect(try paths.contains("Sources/Daemon/TapDaemon/Daemon.swift"))
        #expect(try HouseRules.looseFiles(paths) == [])
    }

    /// What knows each other cannot be understood one after the other. Decision 245 names the pairs.
    @Test func `at most two pairs of the daemon's folders use each other`() throws {
        let daemon = try files.filter { $0.path.hasPrefix("Sources/Daemon/TapDaemon/") }
        let pairs = HouseRules.mutualFolders(of: daemon)
        #expect(pairs.count <= 2, "move what both need, or hand over what is needed: \(pairs)")
    }

    @Test("A10: a program writes to the terminal through `Descriptor` alone, which takes commands to the terminal out")
    func terminal() throws {
        #expect(try HouseRules.barePrints(files) == [])
    }

    @Test func `no file name stands in two rooms`() throws {
        #expect(try HouseRules.sharedNames(paths) == [])
    }

    /// What may not grow. Whoever mends one takes it off the number.
    private static let (silentThrows, pronounsFirst) = (317, 136)

    @Test func `public functions that throw say when, all but a number that only shrinks`() throws {
        let silent = try files.flatMap { file in HouseRules.silentThrows(file.source).map { "\(file.path):\($0)" } }
        #expect(silent.count <= Self.silentThrows, "\(silent.count), say in a “- Throws:” when: \(silent)")
    }

    @Test func `comments begin with the thing or a verb and no pronoun, all but a number that only shrinks`() throws {
        let found = try files.flatMap { file in HouseRules.pronounsFirst(file.source).map { "\(file.path):\($0)" } }
        #expect(found.count <= Self.pronounsFirst, "\(found.count), begin with the thing or a verb: \(found)")
    }

    // MARK: - Each rule catches what breaks it

    private func source(_ text: String) -> [HouseRules.File] { [("Sources/Room/File.swift", SwiftSource(text))] }

    @Test(arguments: [
        ("print(name)", 1), ("    if a { print(b) }", 1), ("debugPrint(a)", 1), ("fputs(text, stderr)", 1),
        ("StandardOutput.print(name)", 0), ("let a = \"print(b)\"", 0), ("blueprint(b)", 0),
        ("func print(_ text: String) {}\nprint(name)", 0),
    ])
    func `a print of the standard library is found, and one of the file's own is not`(text: String, count: Int) {
        #expect(HouseRules.barePrints([("Sources/Programs/p/File.swift", SwiftSource(text))]).count == count)
    }

    @Test func `four unsafe expressions without a reason are found, and those with one are not`() {
        let bare = """
            func f() {
                let a = unsafe g(unsafe h)

                let text = "unsafe"
                unsafe k()
                unsafe l()
            }
            """
        #expect(HouseRules.unreasoned(SwiftSource(bare)) == [2, 2, 5, 6])
        #expect(HouseRules.unsafeFiles(source(bare)).count == 1)
        #expect(HouseRules.unsafeFiles(source(bare.replacing("unsafe g(", with: "g("))) == [])
    }

    @Test(arguments: [
        ("func f() {\n    unsafe g() // It lives for the call.\n}", 0),
        ("func f() {\n    // It lives for the call.\n    unsafe g(\n        unsafe h)\n}", 0),
        ("func f() {\n    // It lives for the call.\n    unsafe g()\n    unsafe h()\n}", 1),
        ("func f() {\n    // For the call.\n    do {\n        k()\n    } catch {\n        unsafe g()\n    }\n}", 0),
        ("func f() {\n    // For the call.\n    switch a {\n    case .b:\n        unsafe g()\n    }\n}", 0),
        ("/// Each `unsafe` calls C.\nstruct S {\n    func h() {\n        k()\n\n        unsafe l()\n    }\n}", 0),
        ("/// Calls C.\nstruct S {\n    func f() { unsafe g() }\n}", 1),
        ("/// Calls C.\nvar f: Int {\n    unsafe g()\n}", 1),
    ])
    func `a reason stands at the line, above the statement, or above the declaration where it speaks of unsafe`(
        text: String, count: Int
    ) {
        #expect(HouseRules.unreasoned(SwiftSource(text)).count == count)
    }

    @Test func `sixteen stored properties are found, and neither computed ones nor those of the type count`() {
        let names = (1...HouseRules.mostProperties).map { "    private(set) var a\($0) = { 1 }()" }
        let body = names.joined(separator: "\n")
        let others = "    static let b = 1\n    var c: Int { 1 }\n    func d() {\n        let e = 1\n    }"
        let small = "struct S {\n\(body)\n\(others)\n}"
        #expect(SwiftSource(small).bodies.first?.properties.count == 15)
        #expect(HouseRules.crowdedTypes(source(small)) == [])
        for more in ["    let b: Int", "    var b: Int {\n        didSet { d() }\n    }", "    lazy var b = 1"] {
            let crowded = small.replacing("    static let b = 1", with: more)
            #expect(HouseRules.crowdedTypes(source(crowded)).count == 1, "\(more)")
            #expect(HouseRules.crowdedTypes(source("/// A stored property for each part.\n@safe\n" + crowded)) == [])
        }
        let pairs = "struct S {\n    let (a, b): (Int, Int)\n    let c, d: Int\n}"
        #expect(SwiftSource(pairs).bodies.first?.properties.count == 4)
    }

    @Test func `thirty-one methods of an actor are found wherever they stand`() {
        let methods = (1..<HouseRules.mostMethods).map { "    private func f\($0)() { if true {} }" }
        let small = "actor A {\n\(methods.joined(separator: "\n"))\n}\n\nextension A {\n    func g() {}\n}\n"
        #expect(HouseRules.busyActors(source(small)) == [])
        #expect(HouseRules.busyActors(source(small + "extension A {\n    nonisolated func h() {}\n}")).count == 1)
        #expect(HouseRules.busyActors(source(small + "struct B {\n    func h() {}\n}")) == [])
    }

    @Test func `a pair of folders that use each other is found, and one that is only used is none`() {
        let file = { (path: String, text: String) in (path: "Sources/Floor/Room/\(path)", source: SwiftSource(text)) }
        let (one, other) = (
            file("One/A.swift", "struct A {}\nfunc f(_ b: [B]) {}"), file("Other/B.swift", "actor B {}")
        )
        #expect(HouseRules.mutualFolders(of: [one, other]) == [])
        let back = file("Other/C.swift", "extension B {\n    func g() { A.h() }\n}")
        #expect(HouseRules.mutualFolders(of: [one, other, back]) == ["One and Other"])
        let member = file("Other/C.swift", "let a = \"A\"  // A\nlet b = C.A.h()")
        #expect(HouseRules.mutualFolders(of: [one, other, member]) == [])
    }

    @Test func `a loose file and a name in two rooms are found`() {
        #expect(
            HouseRules.looseFiles(["Sources/Daemon/TapDaemon/Daemon.swift", "Sources/Daemon/TapDaemon/API/A.swift"])
                == [])
        #expect(HouseRules.looseFiles(["Sources/Daemon/TapDaemon/Daemon+Reload.swift"]) == [])
        #expect(HouseRules.looseFiles(["Sources/Daemon/TapDaemon/A.swift"]) == ["Sources/Daemon/TapDaemon/A.swift"])
        let shared = ["Sources/Floor/One/A.swift", "Sources/Floor/Two/B/A.swift", "Sources/Floor/Two/C.swift"]
        #expect(HouseRules.sharedNames(shared).count == 1)
    }

    @Test(arguments: [
        ("/// Reads.\npublic func f() throws(E) -> Int { 1 }", 1),
        ("/// Reads.\n///\n/// - Throws: `E` for a file that is not there.\npublic func f() throws -> Int { 1 }", 0),
        ("/// Reads.\npublic func f() -> Int { 1 }\n\nfunc g() throws {}", 0),
        ("/// Reads.\npublic func f(_ body: () throws -> Int) { 1 }", 0),
        ("/// Reads.\npublic func f(_ body: () throws -> Int) rethrows { 1 }", 0),
        ("/// Reads.\npublic static func f(\n    a: Int\n) async throws -> Int {\n    1\n}", 1),
        ("@discardableResult public init(_ a: Int = { 1 }()) throws {}", 1),
    ])
    func `a public function that throws and does not say when is found`(text: String, count: Int) {
        #expect(HouseRules.silentThrows(SwiftSource(text)).count == count)
    }

    @Test func `a comment that begins with a pronoun is found, and its later lines are not looked at`() {
        let text =
            "/// Its name.\nlet a = 1\n\n/// The name.\n/// It is short.\nlet b = 2\n\n// It is.\n/// `nil`: it is.\nlet c = 3"
        #expect(HouseRules.pronounsFirst(SwiftSource(text)) == [1])
    }
}
