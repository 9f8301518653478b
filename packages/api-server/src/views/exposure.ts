/** Tells of listeners that other machines reach. */
import type { HealthPort } from '../ports.ts'

/** A listener that other machines reach, without a token, is a problem to tell of. */
export function withExposure(
  health: HealthPort,
  listeners: ReadonlySet<{ readonly url: string; readonly isExposed: boolean }>,
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
