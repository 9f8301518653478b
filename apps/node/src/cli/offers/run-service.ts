/** `mesh service-add`, `mesh service-connect` and `mesh proxy`: a node of its own, for that purpose alone. */
import { MeshError } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { shellWord } from '../../words/shell-word.ts'
import type { Settings } from '../../settings/options.ts'
import { parseListen, parseOffer, parseProxyAddress } from '../../settings/service-values.ts'
import type { Call, Run } from '../command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { instanceOf, namedAddress } from './named-address.ts'
import { badValue, readPairs } from './read-pairs.ts'
import { runNode } from '../run/run-node.ts'

export const runServiceAdd: Run = async (call) => {
  const { settings } = call
  const pairs = readPairs(call, {
    second: 'TARGET',
    parse: parseOffer,
    isOptional: settings.serviceAdd.length > 0,
  })
  const serviceAdd = [...pairs, ...settings.serviceAdd]
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
  const { settings } = call
  const isOptional = settings.serviceConnect.length > 0
  const named = settings.bucket === undefined ? call : { ...call, positionals: poolPair(call) }
  const pairs = readPairs(named, { second: 'LISTEN', parse: parseListen, isOptional })
  const serviceConnect = [...pairs, ...settings.serviceConnect]
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
  if ('expected' in parsed) throw badValue({ field: '--listen', value: listen, expected: parsed.expected })
  return runNode(call, { listen: undefined, hasVpn: false, settings: { proxy: listen }, instance: 'proxy' })
}

/** `--bucket BUCKET LISTEN` names the pool `BUCKET/*`. @throws MeshError `node.bad_input` */
function poolPair({ positionals, settings, command }: Call): readonly string[] {
  const [listen, ...more] = positionals
  if (listen !== undefined && more.length === 0) return [`${settings.bucket}/*`, listen]
  throw new MeshError('node.bad_input', 'with --bucket one LISTEN is expected, and no NAME', {
    hint: `Usage: mesh ${command.name} --bucket BUCKET LISTEN`,
  })
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
