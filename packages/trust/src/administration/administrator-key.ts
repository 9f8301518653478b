/** The administrator's key that this node may hold. */
import type { Signer } from '@mesh/ledger'
import { trustError } from '../errors.ts'

interface AdministratorKeyComponents {
  /** Gives the seed of the key; asked for each time that it is needed. */
  readonly readAdminSeed: () => Uint8Array | undefined
  readonly signerOf: (seed: Uint8Array) => Signer
}

export class AdministratorKey {
  readonly #administrators: ReadonlySet<string>
  readonly #components: AdministratorKeyComponents

  constructor(administrators: ReadonlySet<string>, components: AdministratorKeyComponents) {
    this.#administrators = administrators
    this.#components = components
  }

  /** Undefined where this node holds no key of an administrator of this network. */
  signer(): Signer | undefined {
    const seed = this.#components.readAdminSeed()
    if (seed === undefined) return undefined
    const signer = this.#components.signerOf(seed)
    return this.#administrators.has(signer.peerId) ? signer : undefined
  }

  /** @throws MeshError `trust.no_admin_key`, `trust.foreign_admin_key` */
  require(): Signer {
    const signer = this.signer()
    if (signer !== undefined) return signer
    throw this.#components.readAdminSeed() === undefined
      ? trustError('trust.no_admin_key', "this node holds no administrator's key", {
          hint: 'Ask on the machine where `mesh admin init` was run, or give --admin-key FILE.',
        })
      : trustError('trust.foreign_admin_key', "the key of this node is no administrator's of this network")
  }
}
