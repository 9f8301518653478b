import { errorsOf } from '@mesh/core'

/** Codes of the `MeshError`s that this package throws. */
export type TrustErrorCode =
  /** `--peergate-auth` is not what it should be. */
  | 'trust.bad_auth'
  /** A text that is no private or public key of the form that `mesh peergater ecdsa-genkey` prints. */
  | 'trust.bad_key'
  /** A text that is no code of an invite. */
  | 'trust.bad_invite'
  /** The network has no administrators. */
  | 'trust.no_administrators'
  /** This node does not hold an administrator's key. */
  | 'trust.no_admin_key'
  /** The key that this node holds is not one of this network's administrators. */
  | 'trust.foreign_admin_key'
  /** Administrators need the ownership mode `enforce`. */
  | 'trust.needs_enforce'
  /** A text that is no policy of access rules; its issues name each fault. */
  | 'trust.bad_policy'
  /** An entry of the ledger cannot hold the policy. */
  | 'trust.policy_too_large'
  /** Another policy than the expected one is in force. */
  | 'trust.policy_changed'
  /** Tests of the policy fail. */
  | 'trust.tests_failed'
  /** The policy would let this node begin nothing any more. */
  | 'trust.cuts_self'
  /** The ledger refused a statement; the message says why. */
  | 'trust.not_stated'
  /** This node holds the administrator's key: shut out, it could tell nobody anything any more. */
  | 'trust.own_node'
  /** There is no such invite of this administrator. */
  | 'trust.unknown_invite'

export const trustError = errorsOf<TrustErrorCode>()
