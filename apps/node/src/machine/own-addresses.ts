import { networkInterfaces } from 'node:os'

/**
 * The addresses of this machine's interfaces now, as a socket binds them: link-local ones with their interface, such as
 * `fe80::1%eth0`, and after all others.
 */
export function ownAddresses(): readonly string[] {
  const all = Object.entries(networkInterfaces()).flatMap(([name, entries = []]) =>
    entries.map(({ address, scopeid }) => {
      const scope = process.platform === 'win32' ? String(scopeid) : name
      return isLinkLocal(address) ? `${address}%${scope}` : address
    }),
  )
  return all.toSorted((a, b) => Number(isLinkLocal(a)) - Number(isLinkLocal(b)))
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address)
}
