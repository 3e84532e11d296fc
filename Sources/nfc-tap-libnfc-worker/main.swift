import Glibc
import ReaderNFCWorker

exit(LibNFCWorker.run())
