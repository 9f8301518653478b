/** The options of a program that joins a network. */
export interface JoinMeshInit {
  /** The network to join, as `mesh -g -b` or `generateToken` makes it. Give this or `tokenFile`. */
  readonly token?: string | undefined
  /** A file that holds the token; a relative path counts from the working directory. */
  readonly tokenFile?: string | undefined
  /** The code of an invite (`mesh admin invite`), for a network with administrators. Needed beside the token, once. */
  readonly invite?: string | undefined
  /** The name that other members see: 1 to 63 letters, digits and hyphens. Default: the host's name. */
  readonly name?: string | undefined
  /**
   * The folder of the identity and the ledger. Default: `$XDG_STATE_HOME/mesh` or `~/.local/state/mesh`, where each
   * `name` has its own.
   */
  readonly stateDir?: string | undefined
  /** Keeps nothing: a new identity, and an empty ledger until other members tell theirs. Default false. */
  readonly ephemeral?: boolean | undefined
  /** Uses no public service to find members: no public DHT, no port mapping. Default false. */
  readonly private?: boolean | undefined
  /** Addresses of members to connect to first, as `mesh.addresses` of another one gives them. */
  readonly bootstrapPeers?: readonly string[] | undefined
  /** Aborts the joining; afterwards it closes the node. */
  readonly signal?: AbortSignal | undefined
  /** Takes the lines of the log, one JSON object each, with the newline. Default: nothing is logged. */
  readonly log?: ((line: string) => void) | undefined
  /**
   * Other settings by the names of the flags of `mesh start`, without dashes ahead: `{ mdns: false }`. A list stands for
   * a flag that is given several times.
   */
  readonly settings?: Readonly<Record<string, SettingValue>> | undefined
}

export type SettingValue = string | number | boolean | readonly string[]
