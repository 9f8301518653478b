/** The part of a node that takes uploads, for tests: keeps how many bytes each file has. */
import type { Fetch } from '@mesh/api-client'
import { refusal } from './fake-node.ts'

interface Refusal {
  readonly code: string
  /** Pieces before this byte are taken. */
  readonly from?: number
  /** The byte that the node names as the right one. */
  readonly expected?: number
}

export interface FakeInbox {
  readonly fetch: Fetch
  /** `NAME FROM+BYTES of TOTAL`, in the order of arrival. */
  readonly pieces: string[]
  /** Keeps back every answer until the returned function is called. */
  hold(): () => void
  refuse(name: string, refusal: Refusal): void
  /** Ends a refusal. */
  accept(name: string): void
  /** When the file has `bytes`, the node has only `left` of it at the next piece. */
  loseAfter(name: string, bytes: number, left: number): void
}

export function createFakeInbox(): FakeInbox {
  const pieces: string[] = []
  const has = new Map<string, number>()
  const refusals = new Map<string, Refusal>()
  const losses = new Map<string, { readonly bytes: number; readonly left: number }>()
  let held: Promise<void> | undefined

  const take = (name: string, query: URLSearchParams, bytes: number) => {
    const from = Number(query.get('from'))
    const total = Number(query.get('of'))
    pieces.push(`${name} ${from}+${bytes} of ${total}`)
    return () => {
      const refused = refusals.get(name)
      if (refused !== undefined && from >= (refused.from ?? 0)) return replyOf(refused)
      const loss = losses.get(name)
      if (loss !== undefined && has.get(name) === loss.bytes) {
        has.set(name, loss.left)
        losses.delete(name)
      }
      const expected = from === 0 ? 0 : (has.get(name) ?? 0)
      if (from !== expected) return replyOf({ code: 'files.wrong_piece', expected })
      has.set(name, from + bytes)
      const State = from + bytes === total ? 'offered' : 'receiving'
      return { status: 200, body: { Name: name, State, Bytes: from + bytes, TotalBytes: total } }
    }
  }
  return {
    pieces,
    async fetch(url, { body, signal }) {
      const [path = '', query = ''] = url.split('?')
      const name = decodeURIComponent(path.split('/')[4] ?? '')
      const answer = take(name, new URLSearchParams(query), body?.length ?? 0)
      await held
      signal.throwIfAborted()
      const reply = answer()
      return new Response(JSON.stringify(reply.body), { status: reply.status })
    },
    hold() {
      const gate = Promise.withResolvers<void>()
      held = gate.promise
      return gate.resolve
    },
    refuse: (name, refused) => void refusals.set(name, refused),
    accept: (name) => void refusals.delete(name),
    loseAfter: (name, bytes, left) => void losses.set(name, { bytes, left }),
  }
}

function replyOf({ code, expected }: Refusal) {
  const Issues = expected === undefined ? [] : [{ Field: 'from', Value: '', Expected: String(expected) }]
  return refusal(409, code, 'the piece is not taken', 'Free some space.', { Issues })
}
