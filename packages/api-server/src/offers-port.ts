/** The server asks through these ports for what this node offers to members and takes of them. */
import type {
  NodeConnectionView,
  NodeDownloadView,
  NodeEgressView,
  NodeFileView,
  NodeServiceView,
  SharedFilesView,
  UploadView,
} from '@mesh/api-contract'

/** Things of one kind, by name. */
export interface OfferShelf<View> {
  /** Lists the things, ordered by name. */
  list(): readonly View[]
  /**
   * Adds a thing in place of what has the name; it is kept over restarts unless the shelf says otherwise.
   * @throws MeshError with a code of the contract
   */
  put(name: string, place: string): Promise<void>
  /** Removes a thing for good, and not only until the next start. */
  remove(name: string): Promise<void>
}

export interface UploadPiece {
  readonly name: string
  readonly bytes: Uint8Array
  /** The byte at which the piece begins, counted from 0. */
  readonly from: number
  /** The size of the whole file, in bytes. */
  readonly totalBytes: number
}

export interface OffersPort {
  readonly services: OfferShelf<NodeServiceView>
  readonly connections: OfferShelf<NodeConnectionView>
  readonly files: OfferShelf<NodeFileView>
  /** Kept while the node runs. */
  readonly downloads: OfferShelf<NodeDownloadView>
  /**
   * Takes the next piece of a file that is put on this node, and offers it with the last. @throws MeshError with a code of
   * the contract
   */
  upload(piece: UploadPiece): Promise<UploadView>
  /** Fetches into the inbox of this node. @throws MeshError with a code of the contract */
  receive(name: string): Promise<void>
  /** Asks the member that offers it what is in it. @throws MeshError with a code of the contract */
  look(name: string, signal: AbortSignal): Promise<SharedFilesView>
  egress(): NodeEgressView
  /** Tells each change of a state; `state` undefined: it was removed. */
  subscribe(
    listener: (event: {
      readonly type: 'service' | 'connection' | 'file'
      readonly name: string
      readonly state: string | undefined
    }) => void,
  ): () => void
}
