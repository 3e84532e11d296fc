// SPDX-License-Identifier: Apache-2.0
/// The description of the POS socket's API, as the daemon serves it: docs/openapi.yaml when this was built.
enum Contract {
    /// OpenAPI 3.1 in YAML, UTF-8.
    static var description: [UInt8] { PackageResources.openapi_yaml }
}
