/// What an acquirer provides to kernel 5 beside data objects; both are used only where the Combination Options say so.
public struct Kernel5Options: Sendable {
    public var exceptionFile: ExceptionFile
    public var randomSelection: RandomSelection?

    public init(exceptionFile: ExceptionFile = .empty, randomSelection: RandomSelection? = nil) {
        self.exceptionFile = exceptionFile
        self.randomSelection = randomSelection
    }
}
