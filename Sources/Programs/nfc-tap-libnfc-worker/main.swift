// SPDX-License-Identifier: Apache-2.0
import Glibc
import Linux
import ReaderNFCWorker

if CommandLine.arguments.dropFirst() == ["--usb-library"] {
    try? Descriptor.print(USBLibrary.loaded?.rawValue ?? "none")
    exit(0)
}
// Cards pass through here: nothing is read by a process that somebody else may look into.
guard ProcessHardening.apply().forbidsDumps else { exit(1) }
if let complaint = USBLibrary.complaint { try? Descriptor.write(complaint + "\n", to: STDERR_FILENO) }
exit(LibNFCWorker.run())
