/** Values that are right alone and wrong together. */
import type { Issue } from '@mesh/core'
import { formatDuration } from './option.ts'
import { flagOf, type OptionName } from './options.ts'
import type { ResolvedSettings } from './resolve-settings.ts'
import { findVpnContradictions } from './vpn-contradictions.ts'

/** Fewer heartbeats in a lease than this and healthy owners lose their keys. */
const MIN_HEARTBEATS_IN_TTL = 4

/** What one check looks at. */
export interface Judged extends ResolvedSettings {
  isGiven(name: OptionName): boolean
  /** As the person wrote it, or the flag. */
  placeOf(name: OptionName): string
  refuse(name: OptionName, expected: string): void
}

/** @param command its name; what it does not take is not judged */
export function findContradictions(command: string, resolved: ResolvedSettings): Issue[] {
  const { sources } = resolved
  const issues: Issue[] = []
  const isGiven = (name: OptionName) => sources[name].level !== 'default'
  const placeOf = (name: OptionName) => (isGiven(name) ? sources[name].place : `--${flagOf(name)}`)
  const refuse = (name: OptionName, expected: string) => void issues.push({ field: placeOf(name), expected })
  const judged: Judged = { ...resolved, isGiven, placeOf, refuse }
  judgeCompanions(command, judged)
  judgeNode(judged)
  if (command === '' || command === 'config') findVpnContradictions(judged)
  return issues
}

/** Flags that mean something with another one only; elsewhere than on the command line they wait for it. */
function judgeCompanions(command: string, { settings, sources, refuse }: Judged): void {
  const need = (name: OptionName, isThere: boolean, companion: string) => {
    if (sources[name].level === 'flag' && !isThere) refuse(name, `only together with ${companion}`)
  }
  need('base64', settings.generate, '--generate (-g)')
  need('keyOtpInterval', settings.generate, '--generate (-g)')
  if (command !== 'dns') need('dnsConfigure', settings.dns.length > 0, '--dns')
  if (command !== '') return
  for (const name of ['apiListen', 'apiAllowedHost', 'apiCors'] as const) need(name, settings.api, '--api')
}

function judgeNode({ settings, isGiven, placeOf, refuse }: Judged): void {
  if (settings.ephemeral && settings.ledgerState !== undefined) {
    refuse('ledgerState', `contradicts ${placeOf('ephemeral')}, which keeps nothing`)
  }
  const least = MIN_HEARTBEATS_IN_TTL * settings.alivenessHealthcheckInterval
  if (settings.ownershipTtl < least) {
    refuse(
      isGiven('ownershipTtl') ? 'ownershipTtl' : 'alivenessHealthcheckInterval',
      `the ownership TTL (${formatDuration(settings.ownershipTtl)}) must be at least four heartbeats (4 × ${formatDuration(settings.alivenessHealthcheckInterval)} = ${formatDuration(least)})`,
    )
  }
  for (const name of ['natmap', 'natservice'] as const) {
    if (settings.private && settings[name] && isGiven(name)) {
      refuse(name, `contradicts ${placeOf('private')}`)
    }
  }
}
