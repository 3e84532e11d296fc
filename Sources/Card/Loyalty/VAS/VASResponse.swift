// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

/// What GET VAS DATA answered with SW 9000: template 70.
public struct VASResponse: Equatable, Sendable {
    /// 9F2A, normally empty; `nil` where absent.
    public let mobileToken: [UInt8]?
    /// 9F27, still sealed; `nil` where absent, as after a request that only sent an address.
    public let passData: [UInt8]?

    /// Reads the data field. The order of the objects does not matter.
    ///
    /// - Returns: `nil` where it is no template 70, or a damaged one.
    public init?(_ data: [UInt8]) {
        do throws(TLVError) {
            let outer = try TLV.children(data)
            guard let template = outer.first, outer.count == 1, template.tag == VASTag.responseTemplate,
                template.start == 0
            else { return nil }
            let inner = try TLV.children(data, in: template.value)
            mobileToken = inner.first { $0.tag == VASTag.mobileToken }.map { Array(data[$0.value]) }
            passData = inner.first { $0.tag == VASTag.passData }.map { Array(data[$0.value]) }
        } catch {
            return nil
        }
    }
}

extension VASResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "<VAS response, \(passData?.count ?? 0) bytes of pass data>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
