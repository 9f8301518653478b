/**
 * `npm run attack -- [NAME...] [--seconds N] [--target legacy] [--json]`: real peers attack real nodes over the wire, and
 * what they reached is measured. Floods of datagrams have `--rate N` a second (a million), or as many as can be: 0.
 * `all --minutes N --nodes N` attacks a network with everything at once; `--list` names the attacks. See
 * docs/SECURITY.md.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ATTACK_LIST, buildAttackList } from './attack-list.ts'
import { DATAGRAM_ATTACKS, FLOOD_BOUNDS, runDatagramAttack, whyNoDatagramAttacks } from './datagrams.ts'
import { runInNamespace, whyNoNeighbourAttacks, whyNoVpnAttacks } from './namespace.ts'
import { formatMeasured } from './report.ts'
import { runAttack } from './run-attack.ts'
import { type Measured, type PassedOver, type Scenario, SUITE_BOUNDS } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { describeOutcomes } from './siege-deeds.ts'
import { runSiege } from './siege.ts'
import { cleanUpWhenInterrupted } from '../interruption.ts'
import { readNumber, readToolOptions } from '../tool-options.ts'

cleanUpWhenInterrupted()

const USAGE = `npm run attack -- [NAME...] [--seconds N] [--target mesh|legacy] [--rate N] [--json]
npm run attack -- all [--minutes N] [--nodes N]
npm run attack -- --list | --write-list

NAME          attacks to carry out, one after the other; all of them unless named
--seconds N   how long each goes on (default: 10)
--target      mesh (default), or legacy: the EdgeVPN binary that EDGEVPN_BIN names
--rate N      datagrams a second of the floods (default: 1000000); 0: as many as can be
--json        the figures as JSON
--list        the names, who can do each, and what it does
--write-list  writes the names into tools/attack/ATTACKS.md
all           everything at once on a network of --nodes (10) for --minutes (10)`

const { values, positionals } = readToolOptions(USAGE, {
  seconds: { type: 'string', default: '10' },
  target: { type: 'string', default: 'mesh' },
  json: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  'write-list': { type: 'boolean', default: false },
  minutes: { type: 'string', default: '10' },
  nodes: { type: 'string', default: '10' },
  rate: { type: 'string', default: '1000000' },
  'in-namespace': { type: 'boolean', default: false },
})
if (values.target !== 'mesh' && values.target !== 'legacy') {
  console.error(`--target is mesh or legacy, and not ${JSON.stringify(values.target)}`)
  process.exit(2)
}
const kind = values.target
const seconds = readNumber('--seconds', values.seconds, 1)
if (positionals[0] === 'all') {
  const [minutes, nodes] = [readNumber('--minutes', values.minutes), readNumber('--nodes', values.nodes, 2)]
  const result = await runSiege({ minutes, nodes })
  console.log(JSON.stringify(result, null, 2))
  console.error(describeOutcomes(result.outcomes))
  process.exit(result.broke === undefined ? 0 : 1)
}
const all = [...SCENARIOS, ...DATAGRAM_ATTACKS]
const unknown = positionals.find((name) => !all.some((attack) => attack.name === name))
if (unknown !== undefined) {
  console.error(`no attack ${unknown}; there are ${all.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
if (values['write-list']) {
  writeFileSync(join(import.meta.dirname, '../..', ATTACK_LIST), buildAttackList())
  process.exit()
}
if (values.list) {
  for (const { name, who, does } of all) console.log(`${name} (${who}): ${does}`)
  process.exit()
}
const isAsked = ({ name }: { readonly name: string }) =>
  positionals.length === 0 || positionals.includes(name)
const measured: Measured[] = []
const passedOver: PassedOver[] = []
/** Why an attack has no meaning on the target, if it has none; such attacks are told, too. */
const isMeaningless = ({ name, who, legacy }: Pick<Scenario, 'name' | 'who' | 'legacy'>) => {
  if (kind === 'mesh' || !('meaningless' in legacy)) return false
  passedOver.push({ name, who, ...legacy })
  return true
}
for (const scenario of SCENARIOS) {
  if (!isAsked(scenario) || isMeaningless(scenario)) continue
  const whyNot = values['in-namespace'] ? undefined : whyNoNamespaceFor(scenario)
  process.stderr.write(whyNot === undefined ? `${scenario.name} ...\n` : `no ${scenario.name}: ${whyNot}\n`)
  if (whyNot !== undefined) continue
  const run = () =>
    isElsewhere(scenario) && !values['in-namespace']
      ? runInNamespace(scenario, seconds, kind)
      : runAttack(scenario, { kind, seconds, bounds: SUITE_BOUNDS })
  // legacy nodes that meet as their topic changes may stay deaf to each other: they meet once more
  measured.push(await (kind === 'mesh' ? run() : run().catch(run)))
}
const floods = DATAGRAM_ATTACKS.filter((attack) => isAsked(attack) && !isMeaningless(attack))
const whyNoFloods = floods.length === 0 ? undefined : whyNoDatagramAttacks()
if (whyNoFloods !== undefined) process.stderr.write(`no floods of datagrams: ${whyNoFloods}\n`)
const most = readNumber('--rate', values.rate)
const rate = most === 0 ? {} : { rate: most }
for (const attack of whyNoFloods === undefined ? floods : []) {
  process.stderr.write(`${attack.name} ...\n`)
  const run = { seconds, bounds: FLOOD_BOUNDS, ...rate }
  measured.push(await runDatagramAttack(attack, run))
}
console.log(
  values.json ? JSON.stringify([...measured, ...passedOver], null, 2) : formatMeasured(measured, passedOver),
)
// an attack on one node alone has nothing in its way but that node: what did nothing there shows nothing
const isIdle = measured.some(({ carried }) => carried !== 'carried out')
process.exit(isIdle || (measured.some(({ broke }) => broke !== undefined) && kind === 'mesh') ? 1 : 0)

/** Whether the victim has a VPN, or a neighbour. */
function isElsewhere({ hasVpn, hasNeighbour, legacy }: Scenario): boolean {
  const isVpn = kind === 'mesh' ? hasVpn : !('meaningless' in legacy) && legacy.hasVpn
  return isVpn === true || hasNeighbour === true
}

/** Why this machine has no namespace for an attack that needs one. */
function whyNoNamespaceFor(scenario: Scenario): string | undefined {
  if (!isElsewhere(scenario)) return undefined
  return kind === 'mesh' && scenario.hasVpn === true ? whyNoVpnAttacks() : whyNoNeighbourAttacks()
}
