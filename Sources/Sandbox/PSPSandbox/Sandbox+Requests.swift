// SPDX-License-Identifier: Apache-2.0
import Crypto
import PaymentValues

/// What is known of a request that is to be carried out once.
enum Recall: Equatable {
    case new
    /// Somebody is at work on the same request.
    case running
    /// The key was used for other content.
    case otherContent
    case answered(SandboxAnswer)
}

/// Exactly once, for any number of sandboxes on one store: the request is written down before it is carried out, its answer
/// before it is sent. Whoever dies in between leaves a request that another one takes over when the lease is over.
extension Sandbox {
    func begin(_ name: RequestName, body: [UInt8]) throws(StoreError) -> Recall {
        let digest = Array(SHA256.hash(data: body))
        return try store.atomically { () throws(StoreError) in
            let lease = now().advanced(by: timing.lease)
            let known = try store.request(name)
            if let known {
                guard known.digest == digest else { return .otherContent }
                if let answer = known.answer { return .answered(answer) }
                // One that ends a whole lease later than a new one was begun by a clock that has been put back since. By less,
                // as time servers do, it may be at work still.
                guard known.leasedUntil <= now() || known.leasedUntil > lease.advanced(by: timing.lease) else {
                    return .running
                }
            }
            try store.save(StoredRequest(digest: digest, leasedUntil: lease, answer: nil), as: name)
            return .new
        }
    }

    /// An answer of 500 and one that is lost before anything was carried out are not kept: the request may be sent again,
    /// and is carried out then.
    func finish(_ name: RequestName, with answer: SandboxAnswer) throws(StoreError) {
        try store.atomically { () throws(StoreError) in
            if answer.status == 500 || answer.isLost { return try store.forget(name) }
            guard var known = try store.request(name), known.answer == nil else { return }
            known.answer = answer
            try store.save(known, as: name)
        }
    }
}
