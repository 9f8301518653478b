/** A transfer on the command line: one line that is drawn again on a terminal, else a line now and then. */
import { printable } from '@mesh/core'
import type { ReceiveState } from '@mesh/services'
import { receivingView } from '../../offers/receiving-view.ts'
import { printableJson } from '../../words/printable.ts'
import type { Call } from '../command.ts'
import { formatBytes, formatTimeSpan } from '../../words/format-quantity.ts'

/** Time between two lines away from a terminal. */
const LINE_INTERVAL_MS = 5_000
const ERASE_LINE = '\r\u001b[K'

export interface TransferDisplay {
  show(state: ReceiveState): void
  /** Leaves the last line as it is. */
  end(): void
}

/**
 * Shows each state: with `--json` every one is a line on standard output; else people read standard error.
 */
export function createTransferDisplay(
  { name, nameOf }: { readonly name: string; readonly nameOf: (peer: string) => string },
  { call, now }: { readonly call: Call; readonly now: () => number },
): TransferDisplay {
  let lastKind: string | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  let isLineOpen = false
  const draw = (line: string) => {
    call.draw(`${ERASE_LINE}${line}`)
    isLineOpen = true
  }
  const endLine = () => {
    if (isLineOpen) call.draw('\n')
    isLineOpen = false
  }
  return {
    show(state) {
      if (call.settings.json) return call.out(printableJson({ Name: name, ...jsonOf(state) }))
      const line = printable(wordsOf(name, state, nameOf))
      const isProgress = state.type === 'receiving'
      if (call.isErrorTerminal && isProgress) draw(line)
      else if (!isProgress || lastKind !== state.type || now() - lastAt >= LINE_INTERVAL_MS) {
        endLine()
        call.note(line)
        lastAt = now()
      }
      lastKind = state.type
    },
    end: endLine,
  }
}

function wordsOf(name: string, state: ReceiveState, nameOf: (peer: string) => string): string {
  switch (state.type) {
    case 'waiting':
      return `${name}: nobody offers it now; waiting (Ctrl-C ends)`
    case 'connecting':
      return `${name}: connecting to ${nameOf(state.provider)}`
    case 'retrying':
      return `${name}: ${state.reason}; trying again`
    case 'receiving': {
      const { bytes, totalBytes, rate, leftMs, path, transport, fileCount } = state
      const share =
        totalBytes === undefined ? '' : ` of ${formatBytes(totalBytes)} (${percent(bytes, totalBytes)})`
      const files = fileCount > 1 ? `, ${fileCount} files` : ''
      const left = leftMs === undefined ? '' : `, ${formatTimeSpan(Math.ceil(leftMs / 1_000))} left`
      const how =
        path === undefined ? '' : `, ${[path, transport].filter((part) => part !== undefined).join(' ')}`
      return `${name}: ${formatBytes(bytes)}${share}${files}, ${formatBytes(Math.round(rate))}/s${left}${how}`
    }
  }
}

function jsonOf(state: ReceiveState): Readonly<Record<string, unknown>> {
  switch (state.type) {
    case 'waiting':
      return { State: 'waiting' }
    case 'connecting':
      return { State: 'connecting', Provider: state.provider }
    case 'retrying':
      return { State: 'retrying', Reason: state.reason, InMs: state.inMs }
    case 'receiving':
      return { State: 'receiving', ...receivingView(state) }
  }
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '100 %' : `${Math.floor((part / whole) * 100)} %`
}
