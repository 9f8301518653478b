/**
 * Ends a UDP port's mapping at a router. The library asks the router to end it without naming its protocol, which
 * routers take for TCP, and by the inner port, which may differ from the router's: the mapping stays.
 *
 * `@achingbrain/nat-port-mapper` 4.0.5, `upnp/internet-gateway-service-4.js`, `unmap`. The report to send: name the
 * protocol and the external port of each mapping.
 */
import type { Gateway } from '@achingbrain/nat-port-mapper'

type Argument = readonly [name: string, value: string | number]

interface Device {
  run(
    service: string,
    action: string,
    values: readonly Argument[],
    options: { readonly signal: AbortSignal },
  ): Promise<unknown>
}

/** The inner part of a router that was found by UPnP. */
type UpnpGateway = Gateway & {
  readonly getGateway?: (options: { readonly signal: AbortSignal }) => Promise<Device>
}

const WAN_CONNECTION = 'urn:schemas-upnp-org:service:WANIPConnection:2'

/** @param ports the port of this machine, and the router's that leads to it */
export async function unmapUdp(
  router: Gateway,
  { port, external }: { readonly port: number; readonly external: number },
  signal: AbortSignal,
): Promise<void> {
  const inner = router as UpnpGateway
  const device = await inner.getGateway?.({ signal })
  await device?.run(
    WAN_CONNECTION,
    'DeletePortMapping',
    [
      ['NewRemoteHost', ''],
      ['NewExternalPort', external],
      ['NewProtocol', 'UDP'],
    ],
    { signal },
  )
  // it renews the mapping no more
  await router.unmap(port, { signal })
}
