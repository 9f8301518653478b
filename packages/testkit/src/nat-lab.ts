/** Two members behind a NAT each, and one in the open between them. */
import { bridge, createLab, type Lab } from './namespaces.ts'

type NatKind = 'port-preserving' | 'fully-random'

/**
 * Builds hosts `a` and `b` behind `nata` and `natb`; `open` has a public address, as the NATs have.
 * @param others further hosts with public addresses: `{ stranger: '5.5.5.11' }`
 */
export function createNatLab(kind: NatKind, others: Readonly<Record<string, string>> = {}): Lab {
  const lab = createLab(['wan', 'open', 'nata', 'natb', 'a', 'b', ...Object.keys(others)])
  try {
    const open = { open: '5.5.5.1', nata: '5.5.5.2', natb: '5.5.5.3', ...others }
    bridge(lab, 'wan', Object.fromEntries(Object.entries(open).map(([host, ip]) => [host, [`${ip}/24`]])))
    for (const [host, nat, subnet] of [
      ['a', 'nata', '192.168.1'],
      ['b', 'natb', '192.168.2'],
    ] as const) {
      lab.wire(
        { host, device: 'eth0', addresses: [`${subnet}.2/24`] },
        { host: nat, device: 'lan', addresses: [`${subnet}.1/24`] },
      )
      lab.run(host, ['ip', 'route', 'add', 'default', 'via', `${subnet}.1`])
      lab.run(nat, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
      lab.run(nat, ['nft', rules(kind)])
    }
    return lab
  } catch (error) {
    lab.close()
    throw error
  }
}

/**
 * The firewall drops what comes in unasked, also towards the NAT itself: an answer would take the port that a
 * hole needs.
 */
function rules(kind: NatKind): string {
  const masquerade = kind === 'port-preserving' ? 'masquerade' : 'masquerade random,fully-random'
  return `table ip nat {
    chain out { type nat hook postrouting priority 100; oifname "eth0" ${masquerade}; }
    chain through {
      type filter hook forward priority 0;
      iifname "eth0" ct state established,related accept
      iifname "eth0" drop
    }
    chain to { type filter hook input priority 0; iifname "eth0" ct state new drop; }
  }`
}
