/** What the walks over the page of real nodes share: where they can run, how a screen is judged, and the hands. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { seriousFaults } from '../../web-ui/test/support/axe.ts'
import { browserPath, type Misdeeds } from '../../web-ui/test/support/browser.ts'

/** How long the page may take to show something. */
export const SEEN = { timeout: 15_000 }
/** How long other nodes may take to hear of something. */
export const SLOW = { withinMs: 30_000 }
export const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

/** The node that serves the page is the one that people run: it embeds the built page. */
const isBuilt = process.env['MESH_TEST_BUILD'] === '1'
/** A folder for a picture of each screen. */
const pictures = process.env['MESH_SCREENS']

/** Says why the page cannot be walked here; undefined where it can. */
export function whyNoWalk(): string | undefined {
  if (browserPath === undefined) return 'no Chromium is installed'
  return isBuilt ? undefined : 'nothing is built'
}

/**
 * Judges what the page shows now, on a desk and on a phone, in both themes.
 *
 * @param pictured is in the picture; default: the top of the page
 * @returns its faults
 */
export async function faultsAtBothWidths(page: Page, name: string, pictured?: Locator): Promise<string[]> {
  const faults: string[] = []
  for (const [size, viewport] of [
    ['phone', PHONE],
    ['desk', DESK],
  ] as const) {
    await page.setViewportSize(viewport)
    await pictured?.scrollIntoViewIfNeeded(SEEN)
    faults.push(...(await faultsOf(page, `${name}-${size}`)))
  }
  return faults
}

async function faultsOf(page: Page, name: string): Promise<string[]> {
  const faults: string[] = []
  for (const [colorScheme, judged] of [
    ['light', 'all'],
    ['dark', 'colours'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    for (const fault of await seriousFaults(page, judged)) faults.push(`${name} ${colorScheme}: ${fault}`)
    await takePicture(page, `${name}-${colorScheme}`)
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  if (wide > 0) faults.push(`${name} is ${wide} px too wide`)
  return faults
}

/** Expects no fault in what the page shows now, at both widths and in both themes. */
export async function expectSound(page: Page, name: string, pictured?: Locator): Promise<void> {
  expect(await faultsAtBothWidths(page, name, pictured)).toEqual([])
}

/** What people do with a page. */
export interface Hands {
  /** Presses the last button of this name, which is the one of a dialog that is open. */
  press(name: string): Promise<void>
  type(label: string, text: string): Promise<void>
  /** Waits until this is seen. */
  see(text: string | RegExp): Promise<void>
}

export function handsOn(page: Page): Hands {
  return {
    press: (name) => page.getByRole('button', { name, exact: true }).last().click(SEEN),
    type: (label, text) => page.getByLabel(label, { exact: true }).fill(text, SEEN),
    see: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(SEEN),
  }
}

/** An API without a VPN, or without a DNS server, answers 404, and so does one for a key that is gone, which the page takes for what it is. */
export async function expectNoMisdeeds({ elsewhere, complaints, violations }: Misdeeds): Promise<void> {
  const unexpected = complaints.filter(
    (text) => !/\/api\/(vpn|dns\/server|ledger\/)|Failed to load resource.*404/.test(text),
  )
  expect({ elsewhere, unexpected, violations: await violations() }).toEqual({
    elsewhere: [],
    unexpected: [],
    violations: [],
  })
}

async function takePicture(page: Page, name: string): Promise<void> {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  writeFileSync(join(pictures, `${name}.png`), await page.screenshot())
}
