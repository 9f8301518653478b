import { useNavigate } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useForgetPeer } from '../../data/peer-actions.ts'
import { forgetPeerCommand } from '../../model/commands.ts'
import type { PeerRow } from '../../model/peer-row.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { WriteErrorNote } from '../../parts/notes.tsx'

/** Forgets a peer, after a question that says what follows. */
export function ForgetPeer({ row: { id, name, isMember } }: { row: PeerRow }) {
  const [isAsking, setAsking] = useState(false)
  const navigate = useNavigate()
  const forget = useForgetPeer()
  return (
    <div>
      <Button tone="danger" busy={forget.isPending} onClick={() => setAsking(true)}>
        <Trash2 aria-hidden="true" />
        {forget.isPending ? 'Forgetting' : 'Forget'}
      </Button>
      <WriteErrorNote error={forget.error} />
      {isAsking && (
        <Confirm
          title={`Forget ${name}?`}
          action="Forget"
          refusal="Keep it"
          commands={[forgetPeerCommand({ origin: nodeUrl, peer: id })]}
          onClose={() => setAsking(false)}
          onConfirm={() =>
            forget.mutate(id, { onSuccess: () => void navigate({ to: '/peers', search: true }) })
          }
        >
          <p>
            This node closes its connections to {name} and forgets its addresses.{' '}
            {isMember
              ? 'It stays a member of the network: other members tell where it is, and it comes back when it is found or dials this node.'
              : 'It comes back when it is found again or dials this node.'}
          </p>
        </Confirm>
      )}
    </div>
  )
}
