/** `mesh service-add`, `mesh service-connect` and `mesh proxy`: a node of its own, for that purpose alone. */
import { MeshError } from '@mesh/core'
import { shellWord } from '../../words/shell-word.ts'
import { parseListen, parseOffer, parseProxyAddress } from '../../settings/service-values.ts'
import type { Call, Run } from '../command.ts'
import { namedAddress } from './named-address.ts'
import { badValue } from './read-pairs.ts'
import { runOffer } from './run-offer.ts'
import { runNode } from '../run/run-node.ts'

export const runServiceAdd: Run = (call) =>
  runOffer(call, {
    setting: 'serviceAdd',
    second: 'TARGET',
    parse: parseOffer,
    askFor(text) {
      const { name, address } = namedAddress(text, call.base)
      return {
        ask: (client) => client.putNodeService({ name, body: { Target: address } }),
        told: `members reach ${address} as ${name}`,
        shown: 'mesh services',
        undo: `mesh service-remove ${shellWord(name)}`,
      }
    },
  })

export const runServiceConnect: Run = async (call) =>
  runOffer(call.settings.bucket === undefined ? call : { ...call, positionals: poolPair(call) }, {
    setting: 'serviceConnect',
    second: 'LISTEN',
    parse: parseListen,
    askFor(text) {
      const { name, address } = namedAddress(text, call.base)
      return {
        ask: (client) => client.putNodeConnection({ name, body: { Listen: address } }),
        told: `${name} is reached on ${address}`,
        shown: 'mesh services',
        undo: `mesh service-disconnect ${shellWord(name)}`,
      }
    },
  })

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
