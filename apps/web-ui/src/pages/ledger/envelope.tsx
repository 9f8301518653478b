import type { SignedEntryView } from '@mesh/api-contract'
import { BUCKETS, tryParsePeerId } from '@mesh/core'
import { useMemo } from 'react'
import { useRead } from '../../data/reads.ts'
import { checkSignature, type SignatureCheck } from '../../model/signed-entry.ts'
import { Copy } from '../../parts/copy.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { Age } from '../../parts/time.tsx'
import { bucketRule } from './bucket-rules.ts'
import { useBlockOf } from '../../live/live-context.tsx'
import { BlockLink } from '../../parts/block-link.tsx'
import css from './ledger.module.css'
import { SignatureMark, Signer } from './signer.tsx'

interface EnvelopeProps {
  readonly bucket: string
  readonly entryKey: string
  readonly signed: SignedEntryView
}

/** Who signed the entry, when, and whether that is true: computed here, not taken from the node. */
export function Envelope({ bucket, entryKey, signed }: EnvelopeProps) {
  const check = useMemo(() => checkSignature({ bucket, key: entryKey, signed }), [bucket, entryKey, signed])
  const block = useBlockOf(bucket, entryKey)
  const { Owner, Version, UpdatedAt, Sig } = signed
  const owner: React.ReactNode = Owner === '' ? 'nobody' : <Signer id={Owner} />
  return (
    <PanelSection title="Entry">
      <p className={css.check}>
        <SignatureMark check={check} />
      </p>
      <p className={css.hint}>{CHECK_EXPLAINED[check]}</p>
      <Facts
        facts={[
          ['Owner', owner],
          ...(bucketRule(bucket).short === 'owned' && Owner !== ''
            ? ([['Owned until', <OwnedUntil key="until" owner={Owner} />]] as const)
            : []),
          [
            'Written',
            <>
              <Age at={UpdatedAt * 1_000} />
              {block !== undefined && (
                <>
                  , in <BlockLink index={block} />
                </>
              )}
            </>,
          ],
          ['Version', <Copy key="version" text={String(Version)} what="version" mono />],
          ...(Sig === null
            ? []
            : ([['Signature', <Copy key="sig" text={Sig} what="signature" mono />]] as const)),
        ]}
      />
    </PanelSection>
  )
}

const CHECK_EXPLAINED: Record<SignatureCheck, string> = {
  verified: 'This browser checked that the owner signed exactly this bucket, key, value and version.',
  wrong: 'What this node shows is not what its owner signed. Do not rely on it.',
  unsigned: 'Anyone in the network could have written this.',
}

/** An owned key stays its owner's for as long as that one is heard. */
function OwnedUntil({ owner }: { owner: string }) {
  const valid = tryParsePeerId(owner) !== undefined
  const beat = useRead('getEntry', { bucket: BUCKETS.healthcheck, key: owner }, { enabled: valid })
  if (beat.isPending && valid) return '…'
  const at = typeof beat.data === 'string' ? Date.parse(beat.data) : Number.NaN
  if (Number.isNaN(at)) return 'its owner is not heard any more: others may take the key'
  return (
    <>
      its owner falls silent; last heard <Age at={at} />
    </>
  )
}
