/** Hosts behind a NAT each, and others in the open between them. */
import { bridge, createLab, type Lab } from './namespaces.ts'

/**
 * The datagrams that a NAT lets in. `port-preserving`: from where its host sent to, address and port, and the port outside is the one
 * inside. `fully-random`: the same, with another port for each destination. `address-restricted`: from every port of the
 * addresses that its host sent to. `full-cone`: from everybody. The last two know one UDP port, `NAT_UDP_PORT`.
 */
export type LabNatKind = 'port-preserving' | 'fully-random' | 'address-restricted' | 'full-cone'

/** The UDP port of the hosts behind NATs that let others in unasked. */
export const NAT_UDP_PORT = 4_700

/**
 * Builds hosts `a` and `b` behind `nata` and `natb`; `open` has a public address, as the NATs have.
 * @param others further hosts with public addresses: `{ stranger: '5.5.5.11' }`
 */
export function createNatLab(kind: LabNatKind, others: Readonly<Record<string, string>> = {}): Lab {
  return createNatsLab({ a: kind, b: kind }, others)
}

/**
 * Builds each host behind a NAT of its own, `natHOST`; host n (from 1) has 192.168.n.2, its NAT 5.5.5.n+1 outside.
 * `open` is 5.5.5.1.
 */
export function createNatsLab(
  hosts: Readonly<Record<string, LabNatKind>>,
  others: Readonly<Record<string, string>> = {},
): Lab {
  const names = Object.keys(hosts)
  const lab = createLab([
    'wan',
    'open',
    ...names.flatMap((host) => [`nat${host}`, host]),
    ...Object.keys(others),
  ])
  try {
    const nats = Object.fromEntries(names.map((host, at) => [`nat${host}`, `5.5.5.${at + 2}`]))
    const open = { open: '5.5.5.1', ...nats, ...others }
    bridge(lab, 'wan', Object.fromEntries(Object.entries(open).map(([host, ip]) => [host, [`${ip}/24`]])))
    for (const [at, host] of names.entries()) {
      const [nat, subnet] = [`nat${host}`, `192.168.${at + 1}`]
      lab.wire(
        { host, device: 'eth0', addresses: [`${subnet}.2/24`] },
        { host: nat, device: 'lan', addresses: [`${subnet}.1/24`] },
      )
      lab.run(host, ['ip', 'route', 'add', 'default', 'via', `${subnet}.1`])
      lab.run(nat, ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
      lab.run(nat, ['nft', rules(hosts[host] ?? 'port-preserving', `${subnet}.2`)])
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
function rules(kind: LabNatKind, inside: string): string {
  const masquerade = kind === 'fully-random' ? 'masquerade random,fully-random' : 'masquerade'
  const from = kind === 'address-restricted' ? 'ip saddr @known' : ''
  const isOpen = kind === 'address-restricted' || kind === 'full-cone'
  const letIn = `chain into {
      type nat hook prerouting priority -100;
      iifname "eth0" udp dport ${NAT_UDP_PORT} ${from} dnat to ${inside}
    }`
  return `table ip nat {
    set known { type ipv4_addr; flags timeout; timeout 120s; }
    chain out { type nat hook postrouting priority 100; oifname "eth0" ${masquerade}; }
    ${isOpen ? letIn : ''}
    chain through {
      type filter hook forward priority 0;
      iifname "lan" udp sport ${NAT_UDP_PORT} update @known { ip daddr }
      iifname "eth0" ct state established,related accept
      iifname "eth0" ct status dnat accept
      iifname "eth0" drop
    }
    chain to { type filter hook input priority 0; iifname "eth0" ct state new drop; }
  }`
}
