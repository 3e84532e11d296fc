import ArgumentParser

@main
enum Main {
    static func main() async {
        do {
            var command = try NFCTap.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            failure.report()
            NFCTap.exit(withError: failure.exitCode)
        } catch {
            NFCTap.exit(withError: error)
        }
    }
}
