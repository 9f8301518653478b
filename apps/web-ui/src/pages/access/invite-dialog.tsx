import { useState } from 'react'
import { type NewInvite, useCreateInvite } from '../../data/changes.ts'
import { exactTime } from '../../model/time-words.ts'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldClasses, Form, TextField } from '../../parts/field.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'
import { QrCode } from '../../parts/qr-code.tsx'
import css from './access.module.css'

const HOUR_S = 3_600
const LIVES = [
  { words: '1 hour', seconds: HOUR_S },
  { words: '1 day', seconds: 24 * HOUR_S },
  { words: '7 days', seconds: 168 * HOUR_S },
  { words: '30 days', seconds: 720 * HOUR_S },
] as const

/** Makes an invite, and shows its code, which nobody can be shown again. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateInvite()
  return (
    <Dialog title="Invite a machine" onClose={onClose} stays>
      {create.data === undefined ? (
        <InviteForm create={create} onClose={onClose} />
      ) : (
        <InviteCode invite={create.data} onClose={onClose} />
      )}
    </Dialog>
  )
}

interface InviteFormProps {
  readonly create: ReturnType<typeof useCreateInvite>
  readonly onClose: () => void
}

function InviteForm({ create, onClose }: InviteFormProps) {
  const [label, setLabel] = useState('')
  const [life, setLife] = useState<number>(LIVES[1].seconds)
  return (
    <Form
      onSubmit={() => {
        if (!create.isPending) create.mutate({ label: label.trim(), lifeSeconds: life })
      }}
    >
      <TextField
        label="For whom"
        value={label}
        onChange={setLabel}
        placeholder="laptop"
        hint="A remark for the list; it may be left empty."
        autoFocus
      />
      <fieldset className={css.choices}>
        <legend>It may be used for</legend>
        {LIVES.map(({ words, seconds }) => (
          <label key={words}>
            <input type="radio" name="life" checked={life === seconds} onChange={() => setLife(seconds)} />
            {words}
          </label>
        ))}
      </fieldset>
      <WriteErrorNote error={create.error} />
      <div className={fieldClasses.actions}>
        <Button type="submit" tone="primary" busy={create.isPending}>
          {create.isPending ? 'Making it' : 'Make an invite'}
        </Button>
        <Button tone="quiet" onClick={onClose}>
          Leave it
        </Button>
      </div>
    </Form>
  )
}

function InviteCode({ invite, onClose }: { invite: NewInvite; onClose: () => void }) {
  return (
    <>
      <p>The machine joins with the network's token and this code, which is shown this once:</p>
      <div className={css.invite}>
        <QrCode text={invite.Code} label="QR code of the invite" />
        <div className={css.code}>
          <Copy text={invite.Code} what="invite code" mono wrap autoFocus />
        </div>
      </div>
      <div className={css.commands}>
        <h4>On that machine</h4>
        <Copy text={`mesh --token-file mesh.token --invite ${invite.Code}`} what="command" mono wrap>
          mesh --token-file mesh.token --invite CODE
        </Copy>
      </div>
      <p className={css.hint}>
        One machine can use it, until {exactTime(Date.parse(invite.ExpiresAt))}. The one who has the code
        first is in: send it as you would send a password.
      </p>
      <div className={fieldClasses.actions}>
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </>
  )
}
