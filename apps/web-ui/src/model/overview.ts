import type { Machine, Reach } from './machine.ts'
import { countInWords } from './rate-words.ts'

/** A piece of the sentence; a tone where it is about a state. */
export interface SentencePart {
  readonly text: string
  readonly tone?: 'direct' | 'relayed'
}

/** How the network is: `12 of 14 machines online, 10 direct, 2 relayed.` */
export function buildSentence(machines: readonly Machine[]): readonly SentencePart[] {
  const of = (kind: Reach['kind']) => machines.filter(({ reach }) => reach.kind === kind).length
  const online = machines.length - of('offline')
  const total = online === machines.length ? '' : `of ${countInWords(machines.length)} `
  if (online <= 1 && machines.length <= 1) return [{ text: 'This machine is alone in its network.' }]
  const noun = machines.length === 1 || (online === 1 && total === '') ? 'machine' : 'machines'
  const paths = [
    { count: of('direct'), word: 'direct', tone: 'direct' },
    { count: of('relayed'), word: 'relayed', tone: 'relayed' },
    { count: of('indirect'), word: 'via others', tone: undefined },
  ] as const
  const parts: SentencePart[] = [{ text: `${countInWords(online)} ${total}${noun} online` }]
  for (const { count, word, tone } of paths) {
    if (count === 0) continue
    parts.push({ text: ', ' }, { text: `${countInWords(count)} ${word}`, ...(tone && { tone }) })
  }
  return [...parts, { text: '.' }]
}
