/** The VPN's life as people want to see it in the log; the returned function ends it. */
import { formatAddressInRange, type Logger, type PeerId, shortPeerId } from '@mesh/core'
import type { Vpn, VpnEvent } from '@mesh/vpn'

export function logVpn(
  vpn: Pick<Vpn, 'interface' | 'addresses' | 'status' | 'problems' | 'subscribe'>,
  log: Logger,
): () => void {
  const reached = new Set<PeerId>()
  let told = new Set<string>()

  const tellState = (state: Extract<VpnEvent, { type: 'state' }>['state']) => {
    const { interface: device } = vpn
    if (state === 'leasing') log.info('waiting for an address', { interface: device?.name })
    if (state === 'running') {
      log.info('interface up', {
        interface: device?.name,
        addresses: vpn.addresses().map(formatAddressInRange),
        mtu: device?.mtu,
      })
    }
  }
  const tellProblems = () => {
    const problems = vpn.problems()
    for (const { code, severity, title, hint } of problems) {
      if (!told.has(code)) log[severity === 'error' ? 'error' : 'warn'](title, { code, hint })
    }
    told = new Set(problems.map(({ code }) => code))
  }
  const tellMachine = (peer: PeerId) => {
    if (reached.has(peer)) return log.debug('session renewed', { peer })
    const { peers } = vpn.status()
    const machine = peers.find((each) => each.peer === peer)
    // those who left the VPN are forgotten
    if (reached.size > peers.length) reached.clear()
    reached.add(peer)
    const { hostname: name, addresses, path } = machine ?? {}
    return log.info('machine reached', { peer, name, addresses, path })
  }
  return vpn.subscribe((event) => {
    switch (event.type) {
      case 'state':
        return tellState(event.state)
      case 'addresses':
        return log.info('addresses changed', { addresses: vpn.addresses().map(formatAddressInRange) })
      case 'problems':
        return tellProblems()
      case 'session':
        return tellMachine(event.peer)
      case 'path': {
        const { state, endpoint, reason, rttMs } = event.udp
        return log.debug('path to a machine', { peer: event.peer, state, ...endpoint, reason, rttMs })
      }
      case 'silent':
        reached.delete(event.peer)
        return log.info('machine is silent', { peer: shortPeerId(event.peer) })
    }
  })
}
