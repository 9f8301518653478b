import { useCreateInvite } from '../data/changes.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { fieldClasses } from '../parts/field.tsx'
import { InviteCode, InviteForm } from './invite.tsx'
import css from './join.module.css'

/** Makes an invite, and shows its code, which nobody can be shown again. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateInvite()
  const invite = create.data
  return (
    <Dialog title="Invite a machine" onClose={onClose} stays>
      {invite === undefined ? (
        <InviteForm create={create} autoFocus>
          <Button tone="quiet" onClick={onClose}>
            Leave it
          </Button>
        </InviteForm>
      ) : (
        <>
          <InviteCode invite={invite} />
          <div className={css.commands}>
            <h4>On that machine</h4>
            <Command text={`sudo mesh --token-file mesh.token --invite ${invite.Code}`} />
          </div>
          <div className={fieldClasses.actions}>
            <Button tone="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
