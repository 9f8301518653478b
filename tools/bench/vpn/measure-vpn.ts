/**
 * The VPN beside the newest wireguard-go and the bare virtual wire. All tunnels stand at the same time, each in two
 * namespaces of its own; each part measures them in turn, over some rounds, and gives medians. Both ends and iperf3
 * share the same cores, so that ratios count and no absolute figure does.
 */
import { engineSupport } from '@mesh/engine'
import { toError } from '@mesh/core'
import { whyNoNamespaces } from '@mesh/testkit'
import { ping, serveIperf } from '../../../apps/node/test/vpn-lab.ts'
import { median, round } from '../statistics.ts'
import { measureVpnMemory } from './memory.ts'
import { type Figures, missingProgram, type Part, PARTS, type Target } from './parts.ts'
import { type Tunnel, type TunnelName, TUNNELS } from './tunnels.ts'

const ROUNDS = 3
/** After this time no further round is begun, in ms, so that all of it ends within six minutes. */
const LAST_ROUND_MS = 300_000
const WARM_UP_PINGS = 10
/** Measured without being asked for by name. */
const USUAL = ['tcp1', 'tcp4', 'offloads-off', 'loss', 'ping', 'packets', 'memory']

/** The names of the measurements, for `vpn.NAME`. */
export const VPN_PARTS: readonly string[] = [...Object.keys(PARTS), 'memory']

type Opened = ReadonlyMap<TunnelName, Tunnel>

/** @param names measurements; the usual ones unless given */
export async function measureVpn(names: readonly string[]) {
  const support = engineSupport()
  const skipped =
    whyNoNamespaces(['ip', 'iperf3', 'ping']) ?? (support.supported ? undefined : support.message)
  if (skipped !== undefined) return { skipped }
  const began = performance.now()
  const isLate = () => performance.now() - began > LAST_ROUND_MS
  const wanted = names.length === 0 ? USUAL : names
  const parts = Object.entries(PARTS).filter(([name]) => wanted.includes(name))
  const results: Record<string, unknown> = {}
  const { opened, left } = await openAll(parts.flatMap(([, { tunnels }]) => tunnels))
  try {
    for (const [name, part] of parts) results[name] = await measurePart({ name, part, opened, isLate })
  } finally {
    for (const { close } of opened.values()) await close()
  }
  if (wanted.includes('memory')) results['memory'] = isLate() ? tooLate() : await attempt(measureVpnMemory)
  return { ...results, ...(Object.keys(left).length === 0 ? {} : { left }) }
}

interface Measuring {
  readonly name: string
  readonly part: Part
  readonly opened: Opened
  readonly isLate: () => boolean
}

async function measurePart(measuring: Measuring): Promise<unknown> {
  const { name, part, opened, isLate } = measuring
  const missing = missingProgram(part.needs)
  if (missing !== undefined) return { skipped: `${missing} is not installed` }
  if (isLate()) return tooLate()
  const tunnels = part.tunnels.flatMap((each) => {
    const tunnel = opened.get(each)
    return tunnel === undefined ? [] : [[each, tunnel] as const]
  })
  const rounds = new Map<TunnelName, Figures[]>(tunnels.map(([each]) => [each, []]))
  const undo: (() => void)[] = []
  let at = 0
  return attempt(async () => {
    try {
      for (const [, { lab }] of tunnels) undo.push(part.prepare?.(lab) ?? (() => {}))
      for (; at < ROUNDS && !isLate(); at++) {
        for (const [each, tunnel] of tunnels) {
          const figures = await part.measure(tunnel)
          process.stderr.write(`  vpn.${name} ${each}: ${JSON.stringify(figures)}\n`)
          rounds.get(each)?.push(figures)
        }
      }
    } finally {
      for (const each of undo) each()
    }
    const medians = Object.fromEntries([...rounds].map(([each, all]) => [each, mediansOf(all)]))
    return { does: part.does, rounds: at, ...medians, ...compare(medians, part.targets) }
  })
}

/** Every tunnel once, warm, with a server of iperf3 behind it; and why those are left out that could not be opened. */
async function openAll(names: readonly TunnelName[]) {
  const opened = new Map<TunnelName, Tunnel>()
  const left: Record<string, string> = {}
  for (const name of new Set(names)) {
    const reason = TUNNELS[name].why()
    if (reason !== undefined) left[name] = reason
    else {
      try {
        opened.set(name, await serve(await TUNNELS[name].open()))
      } catch (error) {
        left[name] = toError(error).message
      }
    }
  }
  return { opened, left }
}

async function serve(tunnel: Tunnel): Promise<Tunnel> {
  const stop = await serveIperf(tunnel.lab, 'right')
  const close = async () => {
    await stop()
    await tunnel.close()
  }
  try {
    await ping(tunnel.lab, 'left', tunnel.to, { count: WARM_UP_PINGS, withinS: 30 })
    return { ...tunnel, close }
  } catch (error) {
    await close()
    throw error
  }
}

function mediansOf(all: readonly Figures[]): Figures {
  const names = Object.keys(all[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, median(all.map((each) => each[name] ?? Number.NaN))]))
}

/** Ours divided by wireguard-go's and by the wire's, and which targets that meets. */
function compare(medians: Readonly<Record<string, Figures>>, targets: readonly Target[]) {
  const { ours, ...others } = medians
  if (ours === undefined) return {}
  const ratios = Object.fromEntries(
    Object.entries(others).map(([name, other]) => [`oursTo${capital(name)}`, ratiosOf(ours, other)]),
  )
  const toWireguardGo = ratios['oursToWireguardGo']
  return { ratios, targets: targets.map((target) => judge(target, ours, toWireguardGo)) }
}

function ratiosOf(ours: Figures, other: Figures): Figures {
  const both = Object.keys(ours).filter((name) => name in other)
  return Object.fromEntries(both.map((name) => [name, round((ours[name] ?? 0) / (other[name] ?? 0))]))
}

function judge({ figure, of, least, most }: Target, ours: Figures, ratios: Figures | undefined) {
  const value = of === 'value' ? ours[figure] : ratios?.[figure]
  const what = of === 'value' ? figure : `${figure} to wireguard-go's`
  const bound = least === undefined ? { most } : { least }
  if (value === undefined) return { what, ...bound, isMet: null }
  const isMet = value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)
  return { what, value, ...bound, isMet }
}

function capital(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`
}

function tooLate() {
  return { skipped: 'the time was over: ask for it by its name' }
}

async function attempt(measure: () => Promise<unknown>): Promise<unknown> {
  try {
    return await measure()
  } catch (error) {
    process.exitCode = 1
    return { failed: toError(error).message }
  }
}
