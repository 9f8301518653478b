import { Command } from '../../parts/copy.tsx'
import { EmptyNote } from '../../parts/notes.tsx'

/** Alone in the network: how that changes. */
export function JoinHint() {
  return (
    <EmptyNote title="No other machine yet">
      <p>
        Start mesh on a second machine with the same token, and it appears here as soon as the two have found
        each other:
      </p>
      <p>
        <Command text="mesh start --token-file mesh.token" />
      </p>
      <p>
        <code>mesh -g -b</code> makes a token for a new network. Anyone who has it is a member: send it as you
        would send a password.
      </p>
    </EmptyNote>
  )
}
