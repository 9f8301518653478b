/** A policy of access rules as an administrator signed it, and where it comes from. */
import type { PeerId } from '@mesh/core'
import type { ResolvedPolicy } from './resolve-policy.ts'

/** The network's policy, with who signed it and when. */
export interface SignedPolicy extends ResolvedPolicy {
  readonly admin: PeerId
  /** The serial number, counted from 1; the policy with the greatest one counts. */
  readonly serial: number
  /** The time, in Unix ms, by the administrator's clock. */
  readonly signedAt: number
}

/** Where the network's policy comes from: its administrators. */
export interface PolicySource {
  /** The newest policy that this node has heard. */
  readonly accessPolicy: SignedPolicy | undefined
  /** True when this node holds an administrator's key. */
  readonly holdsKey: boolean
  /** @throws MeshError `trust.*` where this node cannot sign, or the policy is too large */
  setAccessPolicy(resolved: ResolvedPolicy): SignedPolicy
  onChange(listener: () => void): void
}
