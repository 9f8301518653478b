import { errorsOf } from '@mesh/core'

/** Codes of the `MeshError`s that this package throws, and of its problems and last errors. */
export type ServicesErrorCode =
  /** A name that cannot be announced: empty, too long, or with control characters. */
  | 'services.bad_name'
  /** A target or listen address that is none. */
  | 'services.bad_address'
  /** The name is offered, or connected to, by this node already. */
  | 'services.name_in_use'
  /** More services or connections than a node holds. */
  | 'services.too_many'
  /** The listen address is taken, or may not be used. */
  | 'services.cannot_listen'
  /** Nobody who is alive offers the name, or no egress is alive. */
  | 'services.no_provider'
  /** The peer answered that it does not serve this; the message says why. */
  | 'services.refused'
  /** The target does not answer. */
  | 'services.target_down'
  /** The other side broke the protocol, or the stream ended early. */
  | 'services.broken'
  | 'services.timeout'
  /** This node's entry of `users` was not taken by its own ledger. */
  | 'services.not_announced'
  | 'services.stopped'

export const servicesError = errorsOf<ServicesErrorCode>()
