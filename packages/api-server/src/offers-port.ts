/** The server asks through these ports for what this node offers to members and takes of them. */
/** Something that this node offers or connects to, by its name. */
interface Offered {
  readonly name: string
  readonly lastError: string | undefined
  /** Does it come back after a restart? */
  readonly isKept: boolean
}

/** Entries of a folder that do not arrive. */
interface LeftOutEntries {
  readonly count: number
  /** The first of them, each as `PATH: REASON`. */
  readonly names: readonly string[]
}

interface OfferedTraffic {
  readonly openConnections: number
  /** The number of connections since the start. */
  readonly connections: number
  /** The number of bytes that came from members. */
  readonly bytesIn: number
  /** The number of bytes that went to members. */
  readonly bytesOut: number
}

export interface OfferedService extends Offered, OfferedTraffic {
  readonly target: string
  readonly state: 'checking' | 'announcing' | 'announced' | 'target down' | 'name taken'
  /** The member that has the name in place of this node. */
  readonly owner: string | undefined
}

export interface OfferedConnection extends Offered, OfferedTraffic {
  readonly listen: string
  readonly state: 'waiting for a provider' | 'connecting' | 'connected' | 'failed'
  readonly provider: string | undefined
  readonly path: 'direct' | 'relayed' | undefined
  /** The transport of the newest connection. */
  readonly transport: string | undefined
}

export interface OfferedFile extends Offered {
  /** The absolute path of the file or folder. */
  readonly path: string
  readonly state: 'announced' | 'announcing' | 'name taken'
  readonly owner: string | undefined
  /** The entries inside of it that are not sent. */
  readonly leftOut: LeftOutEntries
  /** Number of receivers that got all of it. */
  readonly completed: number
  readonly receivers: readonly {
    readonly peer: string
    readonly path: 'direct' | 'relayed'
    readonly transport: string | undefined
    readonly bytes: number
    readonly totalBytes: number | undefined
    /** The speed of the transfer, in bytes per second. */
    readonly rate: number
  }[]
}

/** A share of a member that this node fetches, or has fetched. */
export interface FetchedFile {
  readonly name: string
  /** The absolute path where it is to stand, or the folder that it goes into. */
  readonly destination: string
  readonly state: 'waiting' | 'connecting' | 'receiving' | 'retrying' | 'received' | 'failed'
  readonly provider: string | undefined
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  readonly fileCount: number | undefined
  readonly bytes: number
  readonly totalBytes: number | undefined
  /** The speed of the transfer, in bytes per second. */
  readonly rate: number
  readonly leftMs: number | undefined
  /** The absolute path where it stands; undefined until it is received. */
  readonly writtenTo: string | undefined
  /** False: an EdgeVPN-compatible sender says no hash. Undefined until it is received. */
  readonly isVerified: boolean | undefined
  /** The entries that did not arrive; undefined until it is received. */
  readonly leftOut: LeftOutEntries | undefined
  readonly lastError: string | undefined
  readonly errorCode: string | undefined
  readonly hint: string | undefined
}

/** The way out that this node is for members. */
export interface OfferedEgress extends OfferedTraffic {
  /** The number of refusals, by code. */
  readonly refusals: Readonly<Record<string, number>>
}

/** The local proxy, whose requests leave through members. */
export interface LocalProxy extends OfferedTraffic {
  readonly listen: string
  /** The member that the last requests left through. */
  readonly egress: string | undefined
  readonly path: 'direct' | 'relayed' | undefined
  readonly transport: string | undefined
  readonly lastError: string | undefined
}

/** Things of one kind, by name. */
export interface OfferShelf<State> {
  /** Lists the things, ordered by name. */
  list(): readonly State[]
  /**
   * Adds a thing in place of what has the name; it is kept over restarts unless the shelf says otherwise.
   * @throws MeshError with a code of the contract
   */
  put(name: string, place: string): Promise<void>
  /** Removes a thing for good, and not only until the next start. */
  remove(name: string): Promise<void>
}

export interface OffersPort {
  readonly services: OfferShelf<OfferedService>
  readonly connections: OfferShelf<OfferedConnection>
  readonly files: OfferShelf<OfferedFile>
  /** Kept while the node runs. */
  readonly downloads: OfferShelf<FetchedFile>
  /** Undefined: members do not get out here. */
  egress(): OfferedEgress | undefined
  /** Undefined: this node has none. */
  proxy(): LocalProxy | undefined
  /** Tells each change of a state; `state` undefined: it was removed. */
  subscribe(
    listener: (event: {
      readonly type: 'service' | 'connection' | 'file'
      readonly name: string
      readonly state: string | undefined
    }) => void,
  ): () => void
}
