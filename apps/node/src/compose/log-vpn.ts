/** The VPN's life as people want to see it in the log; the returned function ends it. */
import { formatAddressInRange, type Logger, type PeerId, shortPeerId } from '@mesh/core'
import type { Vpn, VpnEvent } from '@mesh/vpn'

type LoggedVpn = Pick<Vpn, 'interface' | 'addresses' | 'status' | 'problems' | 'subscribe'>

export function logVpn(vpn: LoggedVpn, log: Logger): () => void {
  const reached = new Set<PeerId>()
  const problems = new ProblemLog(vpn, log)

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
        return problems.tell()
      case 'session':
        return tellMachine(event.peer)
      case 'path': {
        const { state, endpoint, reason, rttMs } = event.udp
        return log.debug('path to a machine', { peer: event.peer, state, ...endpoint, reason, rttMs })
      }
      case 'refusals':
        return log.debug('refused by rules', { kinds: event.refusals.length })
      case 'silent':
        reached.delete(event.peer)
        return log.info('machine is silent', { peer: shortPeerId(event.peer) })
    }
  })
}

/** Reasons that belong to a normal start, and are no warnings in a log. */
const EXPECTED: ReadonlySet<string> = new Set(['vpn.exit_searching'])

/** Each problem once, as long as it lasts; and that the exit is reached, when it was not. */
class ProblemLog {
  readonly #vpn: LoggedVpn
  readonly #log: Logger
  #told: ReadonlySet<string> = new Set()
  #isExitUp = false

  constructor(vpn: LoggedVpn, log: Logger) {
    this.#vpn = vpn
    this.#log = log
  }

  tell(): void {
    const problems = this.#vpn.problems()
    for (const { code, severity, title, hint } of problems) {
      const level = severity === 'error' ? 'error' : EXPECTED.has(code) ? 'info' : 'warn'
      if (!this.#told.has(code)) this.#log[level](title, { code, hint })
    }
    this.#told = new Set(problems.map(({ code }) => code))
    this.#tellExit()
  }

  #tellExit(): void {
    const { exit } = this.#vpn.status()
    const wasUp = this.#isExitUp
    this.#isExitUp = exit?.state === 'up'
    if (exit === undefined || wasUp || !this.#isExitUp) return
    const { peer, hostname: name, families } = exit
    this.#log.info('exit node reached', { peer, name, families })
  }
}
