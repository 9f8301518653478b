import { Copy } from '../../parts/copy.tsx'
import css from './offers.module.css'

/** Says in one line that this page was not opened on the machine of the node, and what is typed there instead. */
export function RemoteNote({ command }: { command: string }) {
  return (
    <p className={css.note}>
      What this node offers is changed on its own machine; type there:{' '}
      <Copy text={command} what="command" mono wrap />
    </p>
  )
}
