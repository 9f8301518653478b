/** Which service an address like `http://NAME.svc.mesh/` names. */
import { BUCKETS } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { servicesError } from '../errors.ts'

interface ServiceUrlInit {
  readonly ledger: Pick<Ledger, 'snapshot'>
  /** The zone of the network's names, without a dot at the end. */
  readonly zone: string
}

/**
 * Gives the name in `http://NAME.svc.ZONE/`. Hosts have no capitals, names of services may.
 * @throws MeshError `services.bad_address`
 */
export function serviceNameIn(
  { protocol, hostname, port, href }: URL,
  { ledger, zone }: ServiceUrlInit,
): string {
  const suffix = `.svc.${zone}`
  const label = hostname.endsWith(suffix) ? hostname.slice(0, -suffix.length) : ''
  if (protocol !== 'http:' || port !== '' || label === '') throw notOfService(href, zone)
  const snapshot = ledger.snapshot()
  if (snapshot.getLive(BUCKETS.services, label) !== undefined) return label
  for (const { key, entry } of snapshot.entries(BUCKETS.services))
    if (!entry.deleted && key.toLowerCase() === label) return key
  return label
}

function notOfService(url: string, zone: string) {
  return servicesError('services.bad_address', `${url} is no address of a service`, {
    hint: `Write http://NAME.svc.${zone}/PATH: no port, and http, as the network encrypts by itself.`,
  })
}
