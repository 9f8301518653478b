/**
 * Tells what the node waits for, as text, in place of Go's goroutines: the event loop's delay, its handles, and the stacks at
 * which operations began that have not ended. Stacks are collected only while somebody asks, since they cost much.
 */
import { createHook } from 'node:async_hooks'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { type Clock, delay } from '@mesh/core'

/** How many operations are watched at the same time; further ones are counted only. */
const MAX_WATCHED_OPERATIONS = 20_000
/** How many different stacks are shown, those of the most operations first. */
const MAX_SHOWN_STACKS = 200
/** How many handles are shown by themselves. */
const MAX_SHOWN_HANDLES = 500
/** The time between two measurements of the delay, in ms. */
const DELAY_RESOLUTION_MS = 10
const NS_PER_MS = 1e6

/** Watches for the time given, and describes what it saw. Rejects with the signal's reason. */
export async function describePendingWork(
  seconds: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  const watch = watchOperations()
  const loop = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })
  const before = performance.eventLoopUtilization()
  loop.enable()
  try {
    await delay(clock, seconds * 1_000, signal)
  } finally {
    loop.disable()
    watch.stop()
  }
  const { utilization } = performance.eventLoopUtilization(before)
  const ms = (ns: number) => `${(ns / NS_PER_MS).toFixed(1)} ms`
  return [
    `event loop over ${seconds} s: ${(utilization * 100).toFixed(1)} % busy, delay p50 ${ms(loop.percentile(50))}, p99 ${ms(loop.percentile(99))}, max ${ms(loop.max)}`,
    ...describeResources(),
    ...describeHandles(),
    ...describeOperations(watch.open(), watch.uncounted(), seconds),
    '',
  ].join('\n')
}

/** Counts what keeps the event loop alive, by kind. */
function describeResources(): readonly string[] {
  const counts = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind)
  const rows = [...counts].toSorted(([, a], [, b]) => b.length - a.length)
  return [
    '',
    'active resources:',
    ...rows.map(([kind, { length }]) => `${String(length).padStart(6)} ${kind}`),
  ]
}

/** Fields of a handle that help nobody: it is active, and stands at an address in memory. */
const UNTOLD: ReadonlySet<string> = new Set(['is_active', 'address'])

interface Handle {
  readonly type: string
  readonly is_active?: boolean
  readonly [field: string]: unknown
}

/** Lists the handles of libuv, as Node's diagnostic report tells them; nothing else of the report is read. */
function describeHandles(): readonly string[] {
  const { report } = process
  // names of hosts would be asked for over the network
  Object.assign(report, { excludeNetwork: true })
  const { libuv = [] } = report.getReport() as { readonly libuv?: readonly Handle[] }
  const active = libuv.filter((handle) => handle.is_active === true)
  const shown = active.slice(0, MAX_SHOWN_HANDLES).map(({ type, ...fields }) => {
    const told = Object.entries(fields).filter(
      ([name, value]) => !UNTOLD.has(name) && value !== null && value !== undefined,
    )
    return `  ${type} ${told.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(' ')}`.trimEnd()
  })
  return ['', `active handles: ${active.length}`, ...shown]
}

function describeOperations(
  open: readonly Operation[],
  uncounted: number,
  seconds: number,
): readonly string[] {
  const byStack = Map.groupBy(open, ({ type, stack }) => `${type}\n${stack}`)
  const shown = [...byStack].toSorted(([, a], [, b]) => b.length - a.length).slice(0, MAX_SHOWN_STACKS)
  return [
    '',
    `operations that began within ${seconds} s and have not ended: ${open.length} at ${byStack.size} places`,
    ...(uncounted === 0 ? [] : [`and ${uncounted} that were not watched, for their number`]),
    ...shown.map(([stack, { length }]) => `\n${length} @ ${stack}`),
  ]
}

interface Operation {
  readonly type: string
  readonly stack: string
}

/** Watches which asynchronous operations begin and end. */
function watchOperations() {
  const open = new Map<number, Operation>()
  let uncounted = 0
  const hook = createHook({
    init(id, type) {
      if (open.size >= MAX_WATCHED_OPERATIONS) uncounted++
      else open.set(id, { type, stack: stackHere() })
    },
    destroy: (id) => void open.delete(id),
    promiseResolve: (id) => void open.delete(id),
  }).enable()
  return {
    open: () => [...open.values()].filter(({ stack }) => stack !== ''),
    uncounted: () => uncounted,
    stop: () => void hook.disable(),
  }
}

/** Gives the stack of the caller's caller, without Node's own frames; empty where nothing of ours is on it. */
function stackHere(): string {
  const lines = (new Error('here').stack ?? '').split('\n').slice(3)
  return lines.filter((line) => !/\bnode:|\(<anonymous>\)/.test(line)).join('\n')
}
