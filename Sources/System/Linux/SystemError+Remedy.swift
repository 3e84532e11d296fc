// SPDX-License-Identifier: Apache-2.0
import Glibc

extension SystemError {
    /// What is the matter with a file or folder that could not be opened, made or written, and what to do: one phrase about "it".
    package var remedy: String {
        switch code {
        case EROFS:
            "it is on a disk that is mounted read-only: mount that for writing, or name the folder in ReadWritePaths= of the unit"
        case ENOSPC, EDQUOT: "its disk is full: free space there"
        case ENOENT: "it is not there: make the folder for this program's user"
        case ENOTDIR: "a part of its path is no folder: correct the path"
        case EACCES, EPERM: "this user may not: check its owner and mode"
        case EIO: "its disk fails: look into the kernel's log"
        default: "errno \(code): check its owner and mode, and the disk"
        }
    }
}
