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
    run(options: object): Promise<{ readonly violations: readonly Violation[] }>
  }
}

/**
 * Rules that the page breaks, with the elements, where people would be stopped by it.
 *
 * @param of the colours alone, for a second theme of what was judged before
 */
export async function seriousFaults(page: Page, of: 'all' | 'colours' = 'all'): Promise<readonly string[]> {
  // animations change colours
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
  await page.evaluate(AXE)
  const options = of === 'all' ? {} : { runOnly: { type: 'rule', values: ['color-contrast'] } }
  const violations = await page.evaluate(async (asked) => {
    const { violations: found } = await (globalThis as unknown as AxeGlobal).axe.run(asked)
    return found.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) }))
  }, options)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ')}`.slice(0, 600))
}
