import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string }[]
}

interface AxeGlobal {
  readonly axe: {
    run(): Promise<{ readonly violations: readonly Violation[] }>
  }
}

/** Rules that the page breaks, with the elements, where people would be stopped by it. */
export async function seriousFaults(page: Page): Promise<readonly string[]> {
  // animations change colours
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
  await page.evaluate(AXE)
  const violations = await page.evaluate(async () => {
    const { violations: found } = await (globalThis as unknown as AxeGlobal).axe.run()
    return found.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) }))
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ')}`.slice(0, 600))
}
