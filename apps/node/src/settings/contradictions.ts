/** Values that are right alone and wrong together. */
import type { Issue } from '@mesh/core'
import { formatDuration } from './option.ts'
import { flagOf, type OptionName } from './options.ts'
import type { ResolvedSettings } from './resolve-settings.ts'

/** Fewer heartbeats in a lease than this and healthy owners lose their keys. */
const MIN_HEARTBEATS_IN_TTL = 4

export function findContradictions({ settings, sources }: ResolvedSettings): Issue[] {
  const issues: Issue[] = []
  const isGiven = (name: OptionName) => sources[name].level !== 'default'
  const placeOf = (name: OptionName) => (isGiven(name) ? sources[name].place : `--${flagOf(name)}`)
  const refuse = (name: OptionName, expected: string) => issues.push({ field: placeOf(name), expected })

  if (settings.base64 && !settings.generate) refuse('base64', 'only together with --generate (-g)')
  if (isGiven('keyOtpInterval') && !settings.generate) {
    refuse('keyOtpInterval', 'only together with --generate (-g)')
  }
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
  return issues
}
