import { Plug } from 'lucide-react'
import { useConnectPeer } from '../../data/peer-actions.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { Button } from '../../parts/button.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import css from './peers.module.css'

/** Connects to a peer that this node knows, and says how it was reached. */
export function ConnectPeer({ id, isConnected }: { id: string; isConnected: boolean }) {
  const connect = useConnectPeer()
  const { data: reached } = connect
  if (isConnected && reached === undefined) return null
  return (
    <div className={css.connect}>
      <Button busy={connect.isPending} onClick={() => connect.mutate(id)}>
        <Plug aria-hidden="true" />
        Connect
      </Button>
      <span role="status">
        {connect.isPending && <StateMark tone="announcing" word="connecting" />}
        {reached !== undefined && (
          <StateMark tone={reached.Path} word={`connected, ${reached.Path}`}>
            {roundTripInWords(reached.RoundTripMs)}
          </StateMark>
        )}
      </span>
      <WriteErrorNote error={connect.error} />
    </div>
  )
}
