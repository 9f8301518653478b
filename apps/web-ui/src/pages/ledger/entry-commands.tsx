import { nodeUrl } from '../../data/node-url.ts'
import { useRead } from '../../data/reads.ts'
import { deleteCommands, getCommands, putCommands } from '../../model/commands.ts'
import { CommandList } from '../../parts/command-list.tsx'
import css from './ledger.module.css'

interface EntryCommandsProps {
  readonly bucket: string
  readonly entryKey: string
  readonly deleted: boolean
}

/** Reading, writing and deleting this key from a terminal. */
export function EntryCommands({ bucket, entryKey, deleted }: EntryCommandsProps) {
  const read = useRead('getEntry', { bucket, key: entryKey }, { enabled: !deleted })
  const at = { origin: nodeUrl, bucket, key: entryKey }
  const live = !deleted && read.data !== undefined
  return (
    <details className={css.details}>
      <summary>From a terminal</summary>
      {live && <CommandList title="Read" commands={getCommands(at)} />}
      <CommandList title="Write" commands={putCommands(at, live ? read.data : '')} />
      {live && <CommandList title="Delete" commands={deleteCommands(at)} />}
    </details>
  )
}
