/**
 * A NAT of a lab that forgets each UDP mapping some time after it was made, whatever flows, and takes another port outside
 * for the next one. Mappings are told apart by zones of connection tracking: a zone that is left is never looked at again.
 */
import type { Lab } from './namespaces.ts'

interface ForgetfulNat {
  readonly lab: Lab
  /** The host behind it; its NAT is `natHOST`. */
  readonly host: string
  /** The NAT's address outside. */
  readonly address: string
  /** How long the next mapping lives, in ms. */
  readonly lifeMs: () => number
}

interface Mapping {
  outside: number
  zone: number
  endsAt: number
}

/** How often the host's sockets are looked at, in ms: a mapping lives from its socket's first datagram. */
const LOOK_EVERY_MS = 500
const FIRST_OUTSIDE = 30_000

const RULES = (address: string) => `table ip forgetful {
  map outside { type inet_service : inet_service; }
  map zones { typeof udp sport : ct zone; }
  chain before {
    type filter hook prerouting priority -300;
    iifname "lan" meta l4proto udp ct zone set udp sport map @zones
    iifname "eth0" meta l4proto udp ct zone set udp dport map @zones
  }
  chain out {
    type nat hook postrouting priority 90;
    oifname "eth0" meta l4proto udp snat to ${address} : udp sport map @outside
  }
}`

/** Forgets from now on, until the returned function is called. */
export function forgetMappings({ lab, host, address, lifeMs }: ForgetfulNat): () => void {
  const nat = `nat${host}`
  const mappings = new Map<number, Mapping>()
  let count = 0
  lab.run(nat, ['nft', RULES(address)])

  function forget(port: number, before: Mapping): string[] {
    const next = { outside: FIRST_OUTSIDE + count, zone: 1 + count, endsAt: Date.now() + lifeMs() }
    count++
    mappings.set(port, next)
    const left =
      before.zone === 0
        ? []
        : [
            `delete element ip forgetful outside { ${port} }`,
            `delete element ip forgetful zones { ${port}, ${before.outside} }`,
          ]
    return [
      ...left,
      `add element ip forgetful outside { ${port} : ${next.outside} }`,
      `add element ip forgetful zones { ${port} : ${next.zone}, ${next.outside} : ${next.zone} }`,
    ]
  }

  function look(): void {
    const ports = [...lab.run(host, ['ss', '-Hunl']).matchAll(/:(\d+) +\S+:\*/g)].map(([, port]) =>
      Number(port),
    )
    const changes: string[] = []
    for (const port of new Set(ports)) {
      const known = mappings.get(port)
      if (known === undefined) mappings.set(port, { outside: port, zone: 0, endsAt: Date.now() + lifeMs() })
      else if (Date.now() >= known.endsAt) changes.push(...forget(port, known))
    }
    if (changes.length > 0) lab.run(nat, ['nft', changes.join('; ')])
  }

  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  return () => clearInterval(timer)
}
