/** Who may use the network, as far as this node and its network say something of it. */
import { type Clock, type Logger, MeshError, type Random } from '@mesh/core'
import { createNodeSigner, createNodeVerifier } from '@mesh/ledger/node'
import type { GuardInit, Trust } from '@mesh/trust'
import type { Settings } from '../settings/options.ts'
import { adminKeyFile, createAdminKeyReader } from '../state/admin-key.ts'
import type { Identity } from '../state/identity.ts'
import type { Network } from '../state/network.ts'

interface OpenTrustInit {
  readonly settings: Settings
  readonly network: Network
  readonly identity: Identity
  readonly stateDir: string
}

/** Undefined where anyone who has the token is in. @throws MeshError `trust.*` */
export async function openTrust(
  { settings, network, identity, stateDir }: OpenTrustInit,
  { clock, random, log }: { readonly clock: Clock; readonly random: Random; readonly log: Logger },
): Promise<Trust | undefined> {
  const { administrators = [] } = network.config
  if (settings.invite !== undefined && administrators.length === 0) {
    throw new MeshError('trust.bad_invite', 'there is an invite, and the token names no administrators', {
      hint: 'Give the token that `mesh admin init` printed, which all machines of that network have; without one leave --invite out.',
    })
  }
  if (!settings.peerguard && administrators.length === 0) return undefined
  const [{ createTrust }, { createPeerGuard, parseGuardAuth }, { checkPolicy }] = await Promise.all([
    import('@mesh/trust'),
    import('@mesh/trust/node'),
    import('@mesh/trust/rules'),
  ])
  const guard: GuardInit = {
    enabled: settings.peergate,
    relaxed: settings.peergateRelaxed,
    strict: settings.peergateStrict,
    autoclean: settings.peergateAutoclean,
    intervalMs: settings.peergateInterval,
    livenessMs: settings.ownershipTtl,
    create: createPeerGuard(
      settings.peergateAuth === undefined ? undefined : parseGuardAuth(settings.peergateAuth),
    ),
  }
  return createTrust(
    {
      self: identity.id,
      network: network.id,
      administrators,
      invite: settings.invite,
      ...(settings.peerguard && { guard }),
    },
    {
      signer: createNodeSigner(identity.seed),
      signerOf: createNodeSigner,
      verify: createNodeVerifier(),
      readAdminSeed: createAdminKeyReader(adminKeyFile(settings, stateDir, network.id), log.child('trust')),
      checkPolicy,
      clock,
      random,
      log,
    },
  )
}
