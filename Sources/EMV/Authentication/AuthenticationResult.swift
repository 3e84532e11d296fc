/// What offline data authentication found.
public enum AuthenticationResult: Sendable, Equatable {
    case verified(AuthenticatedData)
    case failed(AuthenticationFailure)
}
