/** Values that are right alone and wrong together. */
import type { Issue } from '@mesh/core'
import { formatDuration } from './option.ts'
import { flagOf, type OptionName, optionNames } from './options.ts'
import type { Judged } from './judged.ts'
import type { ResolvedSettings } from './resolved-settings.ts'
import { findVpnContradictions } from './vpn-contradictions.ts'

/** Fewer heartbeats in a lease than this and healthy owners lose their keys. */
const MIN_HEARTBEATS_IN_TTL = 4

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
  judgeGeneration(judged)
  if (command === '' || command === 'config') findVpnContradictions(judged)
  return issues
}

const PEERGATE = [
  'peergate',
  'peergateRelaxed',
  'peergateAutoclean',
  'peergateStrict',
  'peergateAuth',
  'peergateInterval',
] as const satisfies readonly OptionName[]

/** Flags that mean something with another one only; elsewhere than on the command line they wait for it. */
function judgeCompanions(command: string, { settings, sources, refuse }: Judged): void {
  const need = (name: OptionName, isThere: boolean, companion: string) => {
    if (sources[name].level === 'flag' && !isThere) refuse(name, `only together with ${companion}`)
  }
  need('base64', settings.generate, '--generate (-g)')
  need('keyOtpInterval', settings.generate, '--generate (-g)')
  for (const name of PEERGATE) need(name, settings.peerguard, '--peerguard')
  if (command !== 'dns') need('dnsConfigure', settings.dns.length > 0, '--dns')
  need('browserMembers', settings.websocket, '--websocket')
  if (command !== '') return
  for (const name of [
    'apiListen',
    'apiAllowedHost',
    'apiCors',
    'apiValues',
    'apiTokenFile',
    'apiReadOnly',
    'browserMembers',
  ] as const)
    need(name, settings.api, '--api')
}

/** The options that `-g` takes beside itself. */
const WITH_GENERATE: ReadonlySet<OptionName> = new Set([
  'generate',
  'base64',
  'keyOtpInterval',
  'defaults',
  'debug',
  'logLevel',
  'logFormat',
])
const NAMES_NETWORK: ReadonlySet<OptionName> = new Set(['config', 'token', 'tokenFile'])

/** The environment and the file of defaults may name a network all the same: they are for the nodes that run. */
function judgeGeneration({ settings, sources, placeOf, refuse }: Judged): void {
  if (!settings.generate) return
  const generate = placeOf('generate')
  for (const name of optionNames) {
    if (sources[name].level !== 'flag' || WITH_GENERATE.has(name)) continue
    const reason = NAMES_NETWORK.has(name)
      ? `contradicts ${generate}: ${generate} makes a new network, ${placeOf(name)} names one that exists`
      : `contradicts ${generate}, which makes a network and runs no node`
    refuse(name, reason)
  }
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
