/**
 * Keeps a UDP port mapped at a router, and ends that. The library renews a mapping without telling whether the router still
 * has that address outside, and each further `map` of a port is kept beside those before. It asks the router to end one
 * without naming its protocol, which routers take for TCP, and by the inner port, which may differ from the router's: the
 * mapping stays.
 *
 * `@achingbrain/nat-port-mapper` 4.0.5, `upnp/internet-gateway-service-4.js`, `mapPort`, `refreshPort` and `unmap`. The
 * report to send: name the protocol and the external port of each mapping, keep one mapping for each, and tell when the
 * external address is another.
 */
import type { Gateway } from '@achingbrain/nat-port-mapper'
import { tryParseIp } from '@mesh/core'
import type { PortMapping } from '../addresses/port-mapping.ts'
import { UPNP_LEASE_S } from '../nat-limits.ts'

type Argument = readonly [name: string, value: string | number]

interface Device {
  run(
    service: string,
    action: string,
    values: readonly Argument[],
    options: { readonly signal: AbortSignal },
  ): Promise<Readonly<Record<string, { readonly NewReservedPort?: unknown } | undefined>>>
}

/** The inner part of a router that was found by UPnP. */
type UpnpGateway = Gateway & {
  readonly getGateway?: (options: { readonly signal: AbortSignal }) => Promise<Device>
}

const WAN_CONNECTION = 'urn:schemas-upnp-org:service:WANIPConnection:2'

interface UdpMapping {
  /** The port and the address of this machine that the router is to send to. */
  readonly port: number
  readonly host: string
  /** The router's port that is wished for: where there was one before, that. */
  readonly external: number
}

/** Maps the port, or renews that. @throws Error when the router refuses, or is not there */
export async function mapUdp(
  router: Gateway,
  { port, host, external }: UdpMapping,
  signal: AbortSignal,
): Promise<PortMapping> {
  const device = await deviceOf(router, signal)
  const answer = await device.run(
    WAN_CONNECTION,
    'AddAnyPortMapping',
    [
      ['NewRemoteHost', ''],
      ['NewExternalPort', external],
      ['NewProtocol', 'UDP'],
      ['NewInternalPort', port],
      ['NewInternalClient', host],
      ['NewEnabled', 1],
      ['NewPortMappingDescription', 'mesh'],
      ['NewLeaseDuration', UPNP_LEASE_S],
    ],
    { signal },
  )
  const name = Object.keys(answer).find((key) => key.endsWith('AddAnyPortMappingResponse'))
  const reserved = Number(answer[name ?? '']?.NewReservedPort)
  const address = tryParseIp(await router.externalIp({ signal }))
  if (!Number.isInteger(reserved) || address === undefined) throw new Error('the router does not say where')
  return { address, port: reserved }
}

export async function unmapUdp(router: Gateway, external: number, signal: AbortSignal): Promise<void> {
  const device = await deviceOf(router, signal)
  await device.run(
    WAN_CONNECTION,
    'DeletePortMapping',
    [
      ['NewRemoteHost', ''],
      ['NewExternalPort', external],
      ['NewProtocol', 'UDP'],
    ],
    { signal },
  )
}

async function deviceOf(router: Gateway, signal: AbortSignal): Promise<Device> {
  const device = await (router as UpnpGateway).getGateway?.({ signal })
  if (device === undefined) throw new Error('the router takes no questions')
  return device
}
