// SPDX-License-Identifier: Apache-2.0
package import Settings

/// What a checkup has to know of the gateway's configuration.
///
/// The gateway's room reads its file, and stands on a floor below: whoever starts a checkup brings both together.
public struct GatewayFacts {
    static let file = "/etc/nfc-tap/nfc-tap-gateway.toml"

    /// What the file sets, or its default where it sets nothing.
    package struct Pages {
        /// Where the gateway's own pages lie.
        let folder: String
        /// Origins of pages that others serve.
        let origins: Set<String>

        package init(folder: String, origins: Set<String>) {
            self.folder = folder
            self.origins = origins
        }
    }

    /// The port of an installed gateway.
    let port: Int
    package let pages: Result<Pages, ConfigurationError>

    /// Reads the file of a machine, as an empty one where there is none.
    ///
    /// - Parameter read: makes something of the file's path and text, as the gateway would.
    package init(
        of tree: HostTree, port: Int,
        _ read: (_ path: String, _ text: String) throws(ConfigurationError) -> Pages
    ) {
        self.port = port
        pages = Result { () throws(ConfigurationError) in try read(Self.file, tree.text(Self.file) ?? "") }
    }
}
