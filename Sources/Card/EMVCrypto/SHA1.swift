// SPDX-License-Identifier: Apache-2.0
import Crypto

/// SHA-1 over the concatenation of `parts`, 20 bytes. EMV's RSA certificates and signatures know no other hash
/// (hash algorithm indicator 01, EMV Book 2 §B2.1).
package func sha1(_ parts: [UInt8]...) -> [UInt8] {
    var hash = Insecure.SHA1()
    for part in parts { hash.update(data: part) }
    return Array(hash.finalize())
}
