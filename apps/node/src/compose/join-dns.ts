/** DNS of this node: 1 listens, once the VPN's addresses are there; 2 has the machine use it, where that is wanted. */
import { configureResolver } from '../resolver/configure-resolver.ts'
import type { CleanUps } from '../clean-ups.ts'
import type { JoinInit } from './join-init.ts'

export async function joinDns(init: JoinInit, cleanUps: CleanUps): Promise<void> {
  const { settings, dns, needsDns, onDns } = init
  await dns.listen(needsDns, (host, port) =>
    onDns(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
  )
  if (settings.dnsConfigure) await configureResolver(init, cleanUps)
}
