/** `mesh service-add`, `mesh service-connect` and `mesh proxy`: a node of its own, for that purpose alone. */
import { MeshError } from '@mesh/core'
import { EXIT } from '../errors.ts'
import { shellWord } from '../log/shell-word.ts'
import type { Parsed } from '../settings/option.ts'
import type { Settings } from '../settings/options.ts'
import { describeIssue } from '../settings/resolve-settings.ts'
import { parseListen, parseOffer, parseProxyAddress } from '../settings/service-values.ts'
import type { Call, Run } from './command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { instanceOf, namedAddress } from './named-address.ts'
import { runNode } from './run-node.ts'

export const runServiceAdd: Run = async (call) => {
  const serviceAdd = [...readArguments(call, 'TARGET', parseOffer), ...call.settings.serviceAdd]
  const asked = serviceAdd.map((text): Asked => {
    const { name, address } = namedAddress(text, call.base)
    return {
      ask: (client) => client.putNodeService({ name, body: { Target: address } }),
      told: `members reach ${address} as ${name}`,
      shown: 'mesh services',
      undo: `mesh service-remove ${shellWord(name)}`,
    }
  })
  if (await askCommonNode(call, asked)) return EXIT.ok.code
  return runAlone(call, { serviceAdd }, serviceAdd)
}

export const runServiceConnect: Run = async (call) => {
  const serviceConnect = [...readArguments(call, 'LISTEN', parseListen), ...call.settings.serviceConnect]
  const asked = serviceConnect.map((text): Asked => {
    const { name, address } = namedAddress(text, call.base)
    return {
      ask: (client) => client.putNodeConnection({ name, body: { Listen: address } }),
      told: `${name} is reached on ${address}`,
      shown: 'mesh services',
      undo: `mesh service-disconnect ${shellWord(name)}`,
    }
  })
  if (await askCommonNode(call, asked)) return EXIT.ok.code
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
