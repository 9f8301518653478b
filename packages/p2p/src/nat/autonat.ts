/**
 * AutoNAT v2: others dial an address that may be reachable from outside, and only then is it told. While an address is
 * unconfirmed, a few members are asked again and again.
 */
import { autoNATv2 } from '@libp2p/autonat-v2'
import { createAddressRate } from '../addresses/address-rate.ts'
import { joinService, type MeshHost } from '../libp2p/base-host.ts'
import { AUTONAT_ASK_MS, DIAL_BACKS_BY_ADDRESS, DIAL_BACKS_IN_ALL, MAX_AUTONAT_ASKED } from '../nat-limits.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { SpokenProtocols } from '../peers/spoken-protocols.ts'
import { AUTONAT_REQUEST_PROTOCOL } from '../protocols.ts'
import { askAgain, withoutRelayedCandidates } from '../upstream/autonat-questions.ts'
import { boundDialBacks, type DialFor } from '../upstream/dials-for-others.ts'

/** Adds the service to the host; gives the function that stops asking, and libp2p stops the service. */
export async function joinAutoNat(
  context: Pick<P2pComponents, 'clock' | 'random'> & {
    readonly host: MeshHost
    readonly spoken: Pick<SpokenProtocols, 'speaks'>
    readonly dialFor: DialFor
  },
): Promise<() => void> {
  const { host, spoken, clock, random, dialFor } = context
  const { components } = host.services.parts
  const { peerStore, connectionManager, registrar, randomWalk, logger } = components
  const addressManager = withoutRelayedCandidates(components.addressManager)
  const parts = { peerStore, connectionManager, registrar, randomWalk, logger }
  const rates = { perAddress: DIAL_BACKS_BY_ADDRESS, all: DIAL_BACKS_IN_ALL }
  const isAllowed = createAddressRate(rates, clock)
  await joinService(host, 'autonat', () =>
    boundDialBacks(autoNATv2()({ ...parts, addressManager }) as object, { isAllowed, dialFor }),
  )

  function check(): void {
    cancel = clock.after(AUTONAT_ASK_MS, check)
    const now = clock.now()
    if (!addressManager.getAddressesWithMetadata().some(({ expires }) => expires < now)) return
    host
      .getConnections()
      .filter(
        ({ direct, remotePeer }) => direct && spoken.speaks(remotePeer.toString(), AUTONAT_REQUEST_PROTOCOL),
      )
      .map((connection) => ({ connection, order: random.float() }))
      .toSorted((a, b) => a.order - b.order)
      .slice(0, MAX_AUTONAT_ASKED)
      .forEach(({ connection }) => askAgain(registrar, connection))
  }
  let cancel = clock.after(AUTONAT_ASK_MS, check)
  return () => cancel()
}
