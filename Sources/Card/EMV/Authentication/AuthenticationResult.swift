// SPDX-License-Identifier: Apache-2.0
/// What offline data authentication found.
public enum AuthenticationResult: Sendable, Equatable {
    case verified(AuthenticatedData)
    case failed(AuthenticationFailure)
}
