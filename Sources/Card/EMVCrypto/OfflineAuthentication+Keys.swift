// SPDX-License-Identifier: Apache-2.0
public import EMV

extension OfflineAuthentication {
    /// Offline data authentication with these CA keys: SDA, DDA, fDDA and CDA by EMV Book 2 §5 and §6.
    ///
    /// Every check of the specification is made; the first that fails is the result. An expired CA key counts as
    /// missing. Nothing a card sends traps.
    ///
    /// - Parameter eccKeys: the CA keys of kernel 8; `nil` for the published test key beside test keys, and for none
    ///   beside live ones.
    public static func using(_ keys: CAPublicKeys, eccKeys: CAECCPublicKeys? = nil) -> OfflineAuthentication {
        var authentication = OfflineAuthentication(
            keyState: { name, date in
                if keys.key(rid: name.rid, index: name.index, on: date) != nil { return .usable }
                return keys.key(rid: name.rid, index: name.index) == nil ? .absent : .expired
            },
            verify: { request in
                do throws(AuthenticationFailure) {
                    return .verified(try authenticate(request, with: keys))
                } catch {
                    return .failed(error)
                }
            })
        authentication.oneWayHash = .standard
        authentication.secureChannel = .using(eccKeys ?? (keys.environment == .test ? .test : .none(.live)))
        return authentication
    }

    private static func authenticate(
        _ request: AuthenticationRequest, with keys: CAPublicKeys
    ) throws(AuthenticationFailure) -> AuthenticatedData {
        let chain = CertificateChain(keys: keys, request: request)
        let steps = AuthenticationSteps(request)
        switch request.method {
        case .sda: return try steps.verify(with: chain.issuerKey())
        case .dda, .cda: return try steps.verify(with: chain.iccKey())
        }
    }
}
