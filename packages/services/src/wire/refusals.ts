import { KeyedCounts, type Logger, type PeerId } from '@mesh/core'
import type { AnswerCode } from './messages.ts'

/** Why something that a peer asked for was refused. */
type Refusal =
  | `service.${Exclude<AnswerCode, 'ok'>}`
  | `egress.${Exclude<AnswerCode, 'ok'>}`
  | `legacy.${Exclude<AnswerCode, 'ok'>}`

/** Counts what was refused. */
export interface Refusals {
  refuse(code: Refusal, peer: PeerId, reason: string): void
  /** The counts since the start, by code; only what occurred. */
  counts(): Readonly<Record<string, number>>
}

export function createRefusals(log: Logger): Refusals {
  const counts = new KeyedCounts<Refusal>()
  return {
    refuse(code, peer, reason) {
      counts.add(code)
      log.debug('request refused', { code, peer, reason })
    },
    counts: () => Object.fromEntries(counts.entries()),
  }
}
