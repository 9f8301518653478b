import { useState } from 'react'
import { nodeUrl } from '../../data/node-url.ts'
import { useSwitchGate } from '../../data/changes.ts'
import { useRead } from '../../data/reads.ts'
import { shownId } from '../../model/machine.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Command, Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { ErrorNote, WriteErrorNote } from '../../parts/notes.tsx'
import { useFewRows } from '../../parts/rows.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import page from '../page.module.css'
import css from './access.module.css'

interface GateSectionProps {
  readonly isOn: boolean
  readonly name: (id: string) => string
  readonly filter: string
}

/** The peer gate of this node, and whom it lets pass. */
export function GateSection({ isOn, name, filter }: GateSectionProps) {
  const [asking, setAsking] = useState(false)
  const zone = useRead('getBucket', { bucket: 'trustzone' })
  const change = useSwitchGate()
  const all = Object.keys(zone.data ?? {}).toSorted((a, b) =>
    name(a).localeCompare(name(b), 'en', { numeric: true }),
  )
  const wanted = filter.trim().toLowerCase()
  const trusted = all.filter(
    (id) => name(id).toLowerCase().includes(wanted) || id.toLowerCase().includes(wanted),
  )
  const { drawn, more } = useFewRows(trusted)
  return (
    <section className={`${page.section} ${css.section}`} aria-label="Peer gate">
      <h2>Peer gate</h2>
      <div className={css.gate}>
        <StateMark tone={isOn ? 'direct' : 'offline'} word={isOn ? 'on' : 'off'}>
          {isOn ? 'only the trust zone passes' : 'everybody passes'}
        </StateMark>
        <Button
          role="switch"
          aria-checked={isOn}
          aria-label="Peer gate"
          busy={change.isPending}
          onClick={() => {
            if (change.isPending) return
            if (isOn) change.mutate(false)
            else setAsking(true)
          }}
        >
          {isOn ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
      <WriteErrorNote error={change.error} />
      {zone.error !== null && zone.data === undefined && (
        <ErrorNote title="The trust zone could not be read" error={zone.error} />
      )}
      {zone.data !== undefined && all.length === 0 && (
        <p className={css.hint}>
          Nobody is in the trust zone. A peer gets there by itself when it holds a private key whose public
          key stands in the bucket <code>trustzoneAuth</code>: <Command text="mesh peergater ecdsa-genkey" />
        </p>
      )}
      {all.length > 0 && <h3 className={css.zoneTitle}>Trust zone</h3>}
      {all.length > 0 && (
        <ul className={css.zone} aria-label="Trust zone">
          {drawn.map((id) => (
            <li key={id}>
              <Glyph id={id} />
              <span className={css.zoneName}>{name(id)}</span>
              <Copy text={id} what={`id of ${name(id)}`} mono>
                {shownId(id)}
              </Copy>
            </li>
          ))}
          {trusted.length === 0 && <li className={css.hint}>Nobody here fits the filter.</li>}
        </ul>
      )}
      {more}
      {asking && (
        <Confirm
          title="Switch the peer gate on?"
          action="Switch on"
          commands={[`curl -X PUT ${nodeUrl}/api/peergate/enable`]}
          onClose={() => setAsking(false)}
          onConfirm={() => change.mutate(true)}
        >
          <p>
            {all.length === 0
              ? 'Nobody is in the trust zone. The node then talks with nobody, unless it was started with --peergate-relaxed.'
              : `Then only the trust zone (${all.length}) can use the network with this node. The node cuts all others off at once.`}
          </p>
          <p className={css.hint}>
            The gate is this node's own: each other node decides for itself. Check the trust zone first: while
            the gate was off, any member could write itself into it.
          </p>
        </Confirm>
      )}
    </section>
  )
}
