import { KeyedCounts, type Logger, type PeerId } from '@mesh/core'
import type { AnswerCode } from './messages.ts'

/** Why something that a peer asked for was refused. */
type Refusal =
  | `service.${Exclude<AnswerCode, 'ok'>}`
  | `egress.${Exclude<AnswerCode, 'ok'>}`
  | `legacy.${Exclude<AnswerCode, 'ok'>}`

export function createRefusals(log: Logger) {
  const counts = new KeyedCounts<Refusal>()
  return {
    refuse(code: Refusal, peer: PeerId, reason: string) {
      counts.add(code)
      log.debug('request refused', { code, peer, reason })
    },
    /** The counts since the start, by code; only what occurred. */
    counts: () => Object.fromEntries(counts.entries()),
  }
}

/** Counts what was refused. */
export type Refusals = ReturnType<typeof createRefusals>
