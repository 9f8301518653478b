import { Confirm } from '../../parts/confirm.tsx'
import css from './ledger.module.css'

interface DeleteDialogProps {
  readonly bucket: string
  readonly entryKey: string
  readonly onDelete: () => void
  readonly onClose: () => void
}

/** Asks once, and says who will notice. */
export function DeleteDialog({ bucket, entryKey, onDelete, onClose }: DeleteDialogProps) {
  return (
    <Confirm
      title={`Delete ${bucket}/${entryKey}?`}
      action="Delete"
      refusal="Keep it"
      onClose={onClose}
      onConfirm={onDelete}
    >
      <p className={css.affected}>{affectedWords(bucket)}</p>
      <p className={css.hint}>All members drop the key. It can be put back for 20 seconds.</p>
    </Confirm>
  )
}

function affectedWords(bucket: string): string {
  return Object.hasOwn(AFFECTED, bucket) ? (AFFECTED[bucket] ?? ANY) : ANY
}

const ANY = 'Anyone who reads this key will not find it any more.'
const AFFECTED: Readonly<Record<string, string>> = {
  machines: 'No machine finds the way to this address until its owner announces it again.',
  services: 'Nobody can connect to this service any more until it is announced again.',
  files: 'Nobody can fetch this file any more until it is announced again.',
  users: 'This peer is turned away by services until it announces itself again.',
  dns: 'Names that this pattern answers will not resolve any more.',
  egress: 'This machine is not chosen as a way out any more.',
  healthcheck: 'This machine counts as silent until its next heartbeat.',
  trustzone: 'This peer is not let in any more where peer gating is on.',
  trustzoneAuth: 'Peers that prove themselves with this key are not let in any more.',
}
