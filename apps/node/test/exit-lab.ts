/** A machine and its exit node, each with a link of its own to the Internet, which is a namespace too. */
import type { Lab } from '@mesh/testkit'

/** Somebody in the Internet. */
export const [FAR, FAR6] = ['198.51.100.1', '2001:db8:1::1']
export const [USER, USER6] = ['203.0.113.10', '2001:db8:a::10']
export const [EXIT, EXIT6] = ['203.0.113.20', '2001:db8:b::20']

/** The hosts of the lab; others may be added. */
export const EXIT_HOSTS = ['net', 'user', 'exit'] as const

/** Wires them up. @param rules nftables of the Internet, which counts what it sees at its devices `user` and `exit` */
export function wireExit(lab: Lab, rules: string): void {
  const links = [
    { host: 'user', own: [USER, USER6], router: ['203.0.113.1', '2001:db8:a::1'] },
    { host: 'exit', own: [EXIT, EXIT6], router: ['203.0.113.17', '2001:db8:b::1'] },
  ] as const
  const withBits = ([v4, v6]: readonly [string, string]) => [`${v4}/28`, `${v6}/64`]
  for (const { host, own, router } of links) {
    lab.wire(
      { host, device: 'eth0', addresses: withBits(own) },
      { host: 'net', device: host, addresses: withBits(router) },
    )
    lab.run(host, ['ip', 'route', 'add', 'default', 'via', router[0]])
    lab.run(host, ['ip', '-6', 'route', 'add', 'default', 'via', router[1]])
  }
  for (const host of ['net', 'exit'])
    lab.run(host, ['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'])
  lab.run('net', ['ip', 'addr', 'add', `${FAR}/32`, 'dev', 'lo'])
  lab.run('net', ['ip', 'addr', 'add', `${FAR6}/128`, 'dev', 'lo'])
  lab.run('net', ['nft', rules])
}
