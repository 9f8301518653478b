/** `mesh service-add`, `mesh service-connect` and `mesh proxy`: a node of its own, for that purpose alone. */
import { createHash } from 'node:crypto'
import { MeshError } from '@mesh/core'
import type { Parsed } from '../settings/option.ts'
import type { Settings } from '../settings/options.ts'
import { describeIssue } from '../settings/resolve-settings.ts'
import { parseListen, parseOffer, parseProxyAddress } from '../settings/service-values.ts'
import type { Call, Run } from './command.ts'
import { runNode } from './run-node.ts'

/** What an instance's name may be long. */
const MAX_INSTANCE_LENGTH = 40

export const runServiceAdd: Run = (call) => {
  const added = readArguments(call, 'TARGET', parseOffer)
  const serviceAdd = [...added, ...call.settings.serviceAdd]
  return runAlone(call, { serviceAdd }, serviceAdd)
}

export const runServiceConnect: Run = (call) => {
  const added = readArguments(call, 'LISTEN', parseListen)
  const serviceConnect = [...added, ...call.settings.serviceConnect]
  return runAlone(call, { serviceConnect }, serviceConnect)
}

export const runProxy: Run = (call) => {
  const { listen } = call.settings
  const parsed = parseProxyAddress(listen)
  if ('expected' in parsed) throw badArgument('--listen', listen, parsed.expected)
  return runNode(call, { listen: undefined, hasVpn: false, settings: { proxy: listen }, instance: 'proxy' })
}

/** NAME and ADDRESS; none where only flags name services. @throws MeshError `node.bad_input` */
function readArguments(
  { positionals, settings, command }: Call,
  second: string,
  parse: (text: string) => Parsed<unknown>,
): readonly string[] {
  const [name, address] = positionals
  const flag = command.name === 'service-add' ? 'serviceAdd' : 'serviceConnect'
  if (name === undefined && address === undefined && settings[flag].length > 0) return []
  if (name === undefined || address === undefined) {
    throw new MeshError('node.bad_input', `${name === undefined ? 'NAME' : second} is missing`, {
      hint: `Usage: mesh ${command.name} NAME ${second}`,
    })
  }
  const parsed = parse(`${name}=${address}`)
  if ('expected' in parsed) throw badArgument(`NAME ${second}`, `${name} ${address}`, parsed.expected)
  return [`${name}=${address}`]
}

function badArgument(field: string, value: string, expected: string): MeshError {
  return new MeshError('node.bad_input', describeIssue({ field, value, expected }))
}

/** @param all of these the first names the instance */
function runAlone(call: Call, settings: Partial<Settings>, all: readonly string[]): Promise<number> {
  const [first = ''] = all
  const name = first.slice(0, first.indexOf('='))
  return runNode(call, {
    listen: undefined,
    hasVpn: false,
    settings,
    instance: instanceOf(call.command.name, name),
  })
}

/** `service-add-web`; a name that no folder can have, or too long a one, is told apart by its hash. */
function instanceOf(command: string, name: string): string {
  const wanted = `${command}-${name}`
  if (/^[a-z0-9._-]+$/i.test(wanted) && wanted.length <= MAX_INSTANCE_LENGTH) return wanted
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const readable = wanted.replaceAll(/[^a-z0-9._-]+/gi, '-').slice(0, MAX_INSTANCE_LENGTH - hash.length - 1)
  return `${readable}-${hash}`
}
