/** What suites of the whole page share: one page a test, closed after it, and how a person finds and types things. */
import { act, configure, fireEvent, screen } from '@testing-library/react'
import { afterEach, vi } from 'vitest'
import type { FakeNode } from './fake-node.ts'
import { type RenderedPage, renderPage } from './render-page.tsx'

export interface PageSuite {
  /** Renders the page at an address; it is closed after the test. */
  open(node: FakeNode, address: string): RenderedPage
  /** Moves the page's clock on, so that gathered events are answered. */
  pass(ms: number): Promise<void>
}

/** Call it at the top of a test file. */
export function createPageSuite(): PageSuite {
  // what is awaited comes in milliseconds, but not on a machine that is busy with all other tests
  vi.setConfig({ testTimeout: 30_000 })
  configure({ asyncUtilTimeout: 10_000 })
  let page: RenderedPage | undefined
  afterEach(() => {
    page?.close()
    page = undefined
  })
  return {
    open(node, address) {
      page = renderPage(node, address)
      return page
    },
    async pass(ms) {
      await act(async () => page?.clock.advance(ms))
    },
  }
}

/** Waits for a text on the page. */
export const text = (wanted: string | RegExp) => screen.findByText(wanted)

/** Types into the field with this label. */
export function type(label: string, value: string): void {
  fireEvent.change(screen.getByLabelText(label), { target: { value } })
}
