/** The ledger's buckets that nodes read and write, and what names a place in the ledger. */

/** Names of the buckets; the comment of each says what its keys are. */
export const BUCKETS = {
  /** Peer id: when that node was last alive. */
  healthcheck: 'healthcheck',
  /** Address inside the private network, without mask. */
  machines: 'machines',
  /** Network that a machine routes, as a range. */
  routes: 'routes',
  /** Name of a service. */
  services: 'services',
  /** Bucket, name and peer id (`providerKey`): one more member that has the name, beside the owner of its key. */
  providers: 'providers',
  /** Name of an offered file or folder. */
  files: 'files',
  /** Peer id of a member that connects to services. */
  users: 'users',
  /** Peer id of a member through which others reach the Internet. */
  egress: 'egress',
  /** Name of a lease: the member that holds it now. */
  leases: 'leases',
  /** Pattern of names, a regular expression. */
  dns: 'dns',
  /** `leader`: the member that takes the next address. */
  dhcp: 'dhcp',
  /** Peer id of a peer that peer gates let pass. */
  trustzone: 'trustzone',
  /** Name of a public key with which peers prove that they may stand in `trustzone`. */
  trustzoneAuth: 'trustzoneAuth',
  /** Peer id of a member that looks whether another process uses its identity, or knows it. */
  identities: 'identities',
  /** The bucket of what administrators say of peers and invites, and the claims of invites. */
  admission: 'admission',
} as const

/** One text for a bucket and key, for use as a map's key: no two places share it. */
export function positionId({ bucket, key }: { readonly bucket: string; readonly key: string }): string {
  return `${bucket.length}:${bucket}${key}`
}
