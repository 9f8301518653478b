/** Bounds and times of sharing files. */
import type { ScopeLimits } from '@mesh/core/limits'

/** Fills one noise message of a libp2p stream together with its prefixes: larger blocks cost a second message. */
export const FILE_BLOCK_BYTES = 65_500
/** One message of `/mesh/file/1`: a block with its tag, or a part of a manifest. */
export const MAX_FILE_MESSAGE_BYTES = 65_536
/** Fields of one message; a part of a manifest of the shortest paths has 1,198, and more of them take longer to read. */
export const MAX_MESSAGE_FIELDS = 2_048
/** How often a remote may say that it is busy, a second and at once; it does so every ten seconds. */
export const BUSY_RATE = { perSecond: 1, burst: 16 } as const
/** Blocks that are read or written with one system call. */
export const BLOCKS_PER_CALL = 16
/** The same for each receiver where there are more than `FEW_RECEIVERS`. */
export const FEW_BLOCKS_PER_CALL = 2
/** Receivers that may have much read ahead for each of them. */
export const FEW_RECEIVERS = 8

/** Files and folders of one share: a receiver holds the whole list in memory. */
export const MAX_MANIFEST_ENTRIES = 200_000
/** Names of a folder that are read at a time. */
export const NAMES_AT_A_TIME = 1_000
/** Entries of a folder that the system is asked about at a time. */
export const STATS_AT_A_TIME = 256
/** Text of all paths of one share in UTF-8, for the same reason. */
export const MAX_MANIFEST_BYTES = 32 * 2 ** 20
/** The memory that one entry of a list takes beside its path, in bytes: about so much. */
export const ENTRY_BYTES = 192
/** Memory of the lists of all downloads together, in bytes: one list as long as may be always has room alone. */
export const LISTS = { all: 72 * 2 ** 20 } satisfies ScopeLimits
/** The bytes that Linux takes as a path, in UTF-8. */
export const MAX_PATH_BYTES = 4_096
/** The bytes that common file systems take as one name, in UTF-8. */
export const MAX_NAME_BYTES = 255
/** Entries that do not arrive and are named, of one share; the others are counted. */
export const MAX_LEFT_OUT_NAMES = 20
/** Characters of the name and reason of an entry that does not arrive. */
export const MAX_LEFT_OUT_CHARS = 256
/** Manifest text that goes into one message. */
export const MANIFEST_PART_BYTES = 48 * 1024

/** Files that a receiver asks for ahead of the one that comes, so that small ones do not wait for round trips. */
export const MAX_WANTED_AHEAD = 128
/** Files behind the one asked for that a sender reads before they are asked for, where they are one block or less. */
export const FILES_READ_AHEAD = 8
/** Files of one transfer that are written to the end and flushed to the disk at a time. */
export const MAX_FINISHING = 16

/** Files that one node offers at a time. */
export const MAX_OFFERED_FILES = 256
/** Shares that one node fetches at a time, and of which it remembers how they ended. */
export const MAX_DOWNLOADS = 64
/** Receivers of one peer at a time. */
export const MAX_RECEIVERS_PER_PEER = 8
/** Receivers of what is offered. Each holds a file, and 256 KiB that are read ahead, or 2 MiB where they are few. */
export const RECEIVERS = { all: 64, perPeer: MAX_RECEIVERS_PER_PEER, perAddress: 32 } satisfies ScopeLimits
/** A receiver or sender that says nothing for this long is given up; the transfer is resumed later. */
export const FILE_IDLE_MS = 30_000
/** A file whose sending was broken off is asked for again after this time, doubled up to `RETRY_MAX_MS`. */
export const RETRY_MIN_MS = 500
/** The longest time after which a broken transfer is asked for again. */
export const RETRY_MAX_MS = 5_000
/** A file that arrived with another hash is fetched again from its start so many times. */
export const MAX_HASH_FAILURES = 3
/** A file that changed at the sender while it came is asked for so many times before the transfer ends. */
export const MAX_CHANGED_TRIES = 3
/** Progress is told at most this often. */
export const PROGRESS_INTERVAL_MS = 250
/** The rate of a transfer is an average over this time. */
export const RATE_WINDOW_MS = 5_000
/** Longest reason of a refusal that is shown, in characters. */
export const MAX_REASON_CHARS = 500
/** A reason in this many bytes is not decoded. */
export const MAX_REASON_BYTES = 2_048
/** A receiver that took nothing for this long makes room for one that waits. */
export const IDLE_RECEIVER_MS = 5_000
/** How often a name is looked up that nobody offers, beside looking whenever the ledger changes. */
export const PROVIDER_CHECK_MS = 5_000

/** How long a receiver that has everything waits until the sender has read so, in ms. */
export const DONE_READ_MS = 5_000
