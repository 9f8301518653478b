import type { TrackedWrite } from '../model/tracked-write.ts'
import { clockTime } from '../model/time-words.ts'
import { BlockLink } from './block-link.tsx'
import { StateMark } from './state-mark.tsx'
import { useNow } from './time.tsx'

/** The time for which lists tell what was committed, in ms. */
const BRIEF_MS = 10_000

interface WriteMarkProps {
  readonly write: TrackedWrite
  /** True in lists: a short word, which goes soon after the commit. */
  readonly brief?: boolean
  /** A member's name by id. */
  readonly name?: (id: string) => string
}

/** Shows what became of a write: announcing, committed in a block, or refused by whom. */
export function WriteMark({ write: { outcome, at, request }, brief = false, name = String }: WriteMarkProps) {
  const now = useNow()
  switch (outcome.state) {
    case 'announcing':
      return <StateMark tone="announcing" word={request.action === 'delete' ? 'deleting' : 'announcing'} />
    case 'announced':
      return (
        <StateMark tone="announcing" word="announced">
          {brief ? undefined : 'the node commits it when it can'}
        </StateMark>
      )
    case 'committed':
      if (brief && now - at > BRIEF_MS) return null
      return (
        <StateMark tone="committed" word={request.action === 'delete' ? 'deletion committed' : 'committed'}>
          in {brief ? `block ${outcome.block}` : <BlockLink index={outcome.block} />}
        </StateMark>
      )
    case 'superseded':
      return brief ? null : <StateMark tone="committed" word="replaced by a newer write" />
    case 'refused': {
      const { owner, leaseEndsAt, status } = outcome.error
      // without an answer nobody refused anything
      if (status === 0) return <StateMark tone="refused" word="no answer" />
      if (brief || owner === undefined) return <StateMark tone="refused" word="refused" />
      const until = leaseEndsAt === undefined ? '' : ` until ${clockTime(Date.parse(leaseEndsAt))}`
      return (
        <StateMark tone="refused" word="refused">
          owned by {name(owner)}
          {until}
        </StateMark>
      )
    }
  }
}
