/** Is a listener reachable from other machines, and who is told. */
import { BlockList } from 'node:net'
import type { HealthPort } from '../ports.ts'
import type { ApiListener } from './open-listener.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** @param family as a socket tells it: `IPv4` or `IPv6` */
export function isReachable(address: string, family: string): boolean {
  return !LOOPBACK.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4')
}

/** A listener that other machines reach, without a token, is a problem to tell of. */
export function withExposure(
  health: HealthPort,
  listeners: ReadonlySet<Pick<ApiListener, 'url' | 'isExposed'>>,
  mayDo: () => string,
): HealthPort {
  return {
    ready: () => health.ready(),
    problems: () => [
      ...health.problems(),
      ...[...listeners]
        .filter((listener) => listener.isExposed)
        .map(({ url }) => ({
          code: 'api.exposed',
          severity: 'warning' as const,
          title: `Anyone who reaches ${url} may ${mayDo()}`,
          hint: 'Ask for tokens with --api-token-file FILE (`mesh api-token create` makes one), or listen on 127.0.0.1 or a unix socket.',
        })),
    ],
  }
}
