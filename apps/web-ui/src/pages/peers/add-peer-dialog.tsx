import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useAddPeer } from '../../data/peer-actions.ts'
import { addPeerCommand } from '../../model/commands.ts'
import { roundTripInWords } from '../../model/time-words.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/copy.tsx'
import { Dialog, FOCUS_FIRST } from '../../parts/dialog.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { nameOrOwn } from '../../model/machine.ts'
import { useMachines } from '../../data/machines.tsx'

const EXAMPLE = '/ip4/192.0.2.7/tcp/4001/p2p/12D3KooW…'

/** Connects to a peer that this node has not found, by an address that somebody gave. */
export function AddPeerDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const { machines = [] } = useMachines()
  const add = useAddPeer()
  const address = typed.trim()
  const { data: reached } = add
  return (
    <Dialog title="Connect to an address" stays onClose={onClose}>
      <Form
        onSubmit={() => {
          if (address !== '' && !add.isPending) add.mutate(address)
        }}
      >
        <TextField
          label="Address or peer id"
          value={typed}
          onChange={(value) => {
            setTyped(value)
            add.reset()
          }}
          placeholder={EXAMPLE}
          autoFocus
          hint="The other node shows its addresses under Diagnostics. An address ends with the peer id."
        />
        <p role="status">
          {add.isPending && <StateMark tone="announcing" word="connecting" />}
          {reached !== undefined && (
            <StateMark tone={reached.Path} word={`connected, ${reached.Path}`}>
              {nameOrOwn(machines, reached.PeerID, reached.Name)}, {roundTripInWords(reached.RoundTripMs)}
            </StateMark>
          )}
        </p>
        <WriteErrorNote error={add.error} />
        <Command text={addPeerCommand(nodeUrl, address === '' ? EXAMPLE : address)} />
        <div className={fieldClasses.actions}>
          <Button type="submit" tone="primary" disabled={address === ''} busy={add.isPending}>
            Connect
          </Button>
          <Button tone="quiet" {...FOCUS_FIRST} onClick={onClose}>
            {reached === undefined ? 'Cancel' : 'Done'}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
