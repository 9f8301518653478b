/** Profiles of the running process; a node has this port only when it was started for debugging. */

export interface ProfileRequest {
  /** The name of one of `profiles`. */
  readonly name: string
  /** The time over which it is taken, in seconds; 0 for one that tells of this moment. */
  readonly seconds: number
  /** Collects the garbage first, where the profile is one of memory. */
  readonly collectsGarbage: boolean
}

interface ProfileAnswer {
  readonly body: Uint8Array | string
  /** The content type, as in the header of the answer. */
  readonly type: string
  /** The name that a browser saves it under; undefined: it is shown. */
  readonly fileName?: string
}

interface ProfileKind {
  readonly name: string
  /** One sentence for the index. */
  readonly summary: string
  /** The time over which it is taken where a request names none, in seconds; undefined: it takes no time. */
  readonly defaultSeconds: number | undefined
}

export interface DebugPort {
  readonly profiles: readonly ProfileKind[]
  /** Takes a profile; is asked for one at a time. Rejects with the signal's reason when the asker has left. */
  take(request: ProfileRequest, signal: AbortSignal): Promise<ProfileAnswer>
}
