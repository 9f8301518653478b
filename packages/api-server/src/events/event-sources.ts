/** Turns what ledger and network tell into events of the API, bounded whatever a peer sends. */
import { type EventData, MAX_CHANGES_PER_EVENT } from '@mesh/api-contract'
import { type Clock } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import type { Change, Ledger, LedgerEvent } from '@mesh/ledger'
import type { OnRefused } from '../handlers/ledger-writes.ts'
import { MAX_CHANGES_BYTES, REJECTION_BURST, REJECTIONS_PER_SECOND, TOLD_REFUSALS } from '../limits.ts'
import type { OffersPort } from '../offers-port.ts'
import type { AccessPort, NetworkPort, RulesPort } from '../ports.ts'
import type { EventHub } from './event-hub.ts'
import type { VpnPort } from '../vpn-port.ts'

/** The returned function ends it. */
export function publishLedgerEvents(ledger: Ledger, hub: EventHub, clock: Clock): () => void {
  const rejections = createTokenBucket({ perSecond: REJECTIONS_PER_SECOND, burst: REJECTION_BURST }, clock)
  let suppressed = 0
  return ledger.subscribe((event) => {
    switch (event.type) {
      case 'committed': {
        const { index, hash, timestamp } = event.head
        if (event.changes.length > 0) hub.publish('ledger.changed', changedView(index, event.changes))
        hub.publish('block.committed', {
          Index: index,
          Hash: hash,
          Timestamp: timestamp,
          Changes: event.changes.length,
        })
        return
      }
      case 'rejected': {
        if (!rejections.take()) {
          suppressed++
          return
        }
        hub.publish('ledger.rejected', rejectedView(event, suppressed))
        suppressed = 0
        return
      }
      case 'conflict': {
        const { bucket, key, owners, resolved } = event
        hub.publish('ledger.conflict', {
          Bucket: bucket,
          Key: key,
          Owners: [...owners],
          Resolved: resolved,
          YieldedTo: null,
        })
        return
      }
      case 'yielded':
        hub.publish('ledger.conflict', {
          Bucket: event.bucket,
          Key: event.key,
          Owners: [ledger.self, event.to],
          Resolved: true,
          YieldedTo: event.to,
        })
        return
      case 'admission':
      case 'reconsider':
      case 'retracted':
      case 'contested':
      // for other members; nothing changed here
    }
  })
}

/** A write of this node that was taken at first and refused when its block was made. */
export function publishRefused(ledger: Ledger, hub: EventHub): OnRefused {
  return ({ bucket, key }, error) =>
    hub.publish('ledger.rejected', {
      Bucket: bucket,
      Key: key,
      Owner: ledger.self,
      Version: 0n,
      Code: error.code === 'ledger.not_owner' ? 'NOT_OWNER' : error.code,
      Author: ledger.self,
      Suppressed: 0,
    })
}

/** The returned function ends it. */
export function publishNetworkEvents(network: NetworkPort, hub: EventHub): () => void {
  return network.subscribe((event) => {
    switch (event.type) {
      case 'peer.connected':
        return hub.publish(event.type, { PeerID: event.peer, Path: event.path })
      case 'peer.disconnected':
        return hub.publish(event.type, { PeerID: event.peer })
      case 'refused': {
        const { peer = null, code, protocol = null } = event
        return hub.publish('peer.refused', { PeerID: peer, Code: code, Protocol: protocol })
      }
    }
  })
}

/** The returned function ends it. */
export function publishPathEvents(vpn: VpnPort, hub: EventHub): () => void {
  return vpn.onPath((peer, udp) => hub.publish('machine.path', { PeerID: peer, ...udp }))
}

/** The returned function ends it. */
export function publishOfferEvents(offers: OffersPort, hub: EventHub): () => void {
  return offers.subscribe(({ type, name, state = null }) => {
    hub.publish(`${type}.changed`, { Name: name, State: state })
  })
}

/** Tells changes of access as events, each once. The returned function ends it. */
export function publishAccessEvents(access: AccessPort, hub: EventHub): () => void {
  let told = ''
  return access.subscribe(() => {
    const admission = access.admission()
    const gate = access.gate()?.enabled ?? null
    const state = JSON.stringify([gate, admission])
    if (state === told) return
    told = state
    hub.publish('access.changed', { Gate: gate, Revoked: admission?.Revoked ?? false })
  })
}

/** Tells what access rules refused, a few times a second. The returned function ends it. */
export function publishRefusals(rules: RulesPort, hub: EventHub, clock: Clock): () => void {
  const told = createTokenBucket(TOLD_REFUSALS, clock)
  return rules.onRefused((refused) => {
    if (told.take()) hub.publish('rules.refused', refused)
  })
}

/** Names as many changes as one event may have; the others are counted. */
function changedView(block: number, changes: readonly Change[]): EventData<'ledger.changed'> {
  const named: EventData<'ledger.changed'>['Changes'] = []
  let bytes = 0
  for (const { bucket, key, entry, origin } of changes) {
    bytes += bucket.length + key.length + entry.owner.length
    if (named.length === MAX_CHANGES_PER_EVENT || bytes > MAX_CHANGES_BYTES) break
    named.push({
      Bucket: bucket,
      Key: key,
      Owner: entry.owner,
      Version: entry.version,
      Deleted: entry.deleted,
      Origin: origin,
    })
  }
  return { Block: block, Changes: named, More: changes.length - named.length }
}

function rejectedView(
  event: LedgerEvent & { readonly type: 'rejected' },
  suppressed: number,
): EventData<'ledger.rejected'> {
  return {
    Bucket: event.bucket,
    Key: event.key,
    Owner: event.owner,
    Version: event.version,
    Code: event.code,
    Author: event.author ?? null,
    Suppressed: suppressed,
  }
}
