/** The administrator's key that this node may hold. */
import type { Signer } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { trustError } from '../errors.ts'

export class AdministratorKey {
  readonly #administrators: ReadonlySet<string>
  readonly #readSeed: () => Uint8Array | undefined

  /** @param readSeed gives the seed of the key; asked for each time that it is needed */
  constructor(administrators: ReadonlySet<string>, readSeed: () => Uint8Array | undefined) {
    this.#administrators = administrators
    this.#readSeed = readSeed
  }

  /** Undefined where this node holds no key of an administrator of this network. */
  signer(): Signer | undefined {
    const seed = this.#readSeed()
    if (seed === undefined) return undefined
    const signer = createNodeSigner(seed)
    return this.#administrators.has(signer.peerId) ? signer : undefined
  }

  /** @throws MeshError `trust.no_admin_key`, `trust.foreign_admin_key` */
  require(): Signer {
    const signer = this.signer()
    if (signer !== undefined) return signer
    throw this.#readSeed() === undefined
      ? trustError('trust.no_admin_key', "this node holds no administrator's key", {
          hint: 'Ask on the machine where `mesh admin init` was run, or give --admin-key FILE.',
        })
      : trustError('trust.foreign_admin_key', "the key of this node is no administrator's of this network")
  }
}
