/**
 * The web page of a node with 1,000 machines, 10,000 entries and 50 changes a second, in chromium: what blocks it, how it
 * scrolls, and what one open page costs the node.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { browserPath, launchBrowser } from '../../apps/web-ui/test/support/browser.ts'
import { round } from './statistics.ts'

const WATCH_MS = 20_000
const SCROLL_MS = 5_000
/** The first answers are drawn and the map has settled. */
const LOADED_MS = 5_000
const SEEN = { timeout: 60_000 }
const TARGETS = {
  longestTaskMs: { most: 100 },
  framesPerSecond: { least: 50 },
  settledMs: { most: 3_000 },
  nodeCpuPercent: { most: 5 },
} as const

/** Where each page is, and what shows that it has come. */
const PAGES = {
  machines: { path: '/machines', sign: '[role=row][data-index="5"]' },
  ledger: { path: '/ledger?bucket=sensors', sign: '[role=row] a' },
  map: { path: '/map', sign: 'canvas[aria-busy=false]' },
} as const

export async function measurePage() {
  if (browserPath === undefined) return { skipped: 'no Chromium is installed' }
  const node = fork(join(import.meta.dirname, 'page-node.ts'), { stdio: ['ignore', 2, 2, 'ipc'] })
  const browser = await launchBrowser(browserPath)
  try {
    const { url } = (await told(node)) as { url: string }
    await wait(LOADED_MS)
    const { cpuPercent: idle } = await watchNode(node)
    const results: Record<string, unknown> = { nodeCpuPercentWithoutPage: idle }
    for (const [name, { path, sign }] of Object.entries(PAGES)) {
      process.stderr.write(`  ${name}\n`)
      results[name] = await measureOne(browser, node, { url: url + path, sign, idle })
    }
    return results
  } finally {
    await browser.close()
    node.disconnect()
  }
}

interface Shown {
  readonly url: string
  readonly sign: string
  /** The node's CPU without a page, in percent of a core. */
  readonly idle: number
}

async function measureOne(browser: Browser, node: ChildProcess, { url, sign, idle }: Shown) {
  const page = await browser.newPage()
  await page.addInitScript(() => {
    const tasks: number[] = []
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.push(duration)
    }).observe({ type: 'longtask', buffered: true })
    Object.assign(globalThis, { takeLongest: () => Math.max(0, ...tasks.splice(0)) })
  })
  const began = performance.now()
  await page.goto(url)
  await page.locator(sign).first().waitFor(SEEN)
  const shownMs = round(performance.now() - began, 0)
  await wait(LOADED_MS)
  const longestTaskWhileLoadingMs = await takeLongest(page)
  const { cpuPercent, changesPerSecond } = await watchNode(node)
  const figures = {
    longestTaskMs: await takeLongest(page),
    nodeCpuPercent: round(cpuPercent - idle),
    ...(sign === PAGES.machines.sign && { framesPerSecond: await scroll(page) }),
    ...(sign === PAGES.map.sign && { settledMs: shownMs }),
  }
  await page.close()
  return { changesPerSecond, shownMs, longestTaskWhileLoadingMs, targets: Object.entries(figures).map(judge) }
}

function judge([what, value]: readonly [string, number]) {
  const { most, least }: { readonly most?: number; readonly least?: number } =
    TARGETS[what as keyof typeof TARGETS]
  const isMet = value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)
  return { what, value, ...(least === undefined ? { most } : { least }), isMet }
}

const takeLongest = (page: Page) =>
  page.evaluate(() => Math.round((globalThis as unknown as { takeLongest(): number }).takeLongest()))

/** Frames a second while the list moves by a row and more in each. */
function scroll(page: Page): Promise<number> {
  return page.evaluate(async (forMs) => {
    const scroller = document.querySelector('[role=table]')?.parentElement
    const began = performance.now()
    let frames = 0
    while (performance.now() - began < forMs) {
      await new Promise(requestAnimationFrame)
      frames++
      scroller?.scrollBy(0, 60)
    }
    return Math.round((1_000 * frames) / (performance.now() - began))
  }, SCROLL_MS)
}

/** What the node's process takes of a core over a while, and what the network writes meanwhile. */
async function watchNode(node: ChildProcess) {
  const before = await countersOf(node)
  const began = performance.now()
  await wait(WATCH_MS)
  const after = await countersOf(node)
  const ms = performance.now() - began
  return {
    cpuPercent: round((100 * (after.cpuMs - before.cpuMs)) / ms),
    changesPerSecond: round((1_000 * (after.changes - before.changes)) / ms),
  }
}

function countersOf(node: ChildProcess) {
  node.send('counters')
  return told(node) as Promise<{ readonly cpuMs: number; readonly changes: number }>
}

/** The next message of the node. @throws Error when it ended instead */
async function told(node: ChildProcess): Promise<unknown> {
  const ended = once(node, 'exit').then(([code]) => {
    throw new Error(`the node ended with ${code}`)
  })
  return (await Promise.race([once(node, 'message'), ended]))[0] as unknown
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
