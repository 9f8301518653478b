import { Link } from '@tanstack/react-router'
import { useMachines } from '../../data/machines.tsx'
import { machineOf, nameOf } from '../../model/machine.ts'
import type { SignatureCheck } from '../../model/signed-entry.ts'
import { Glyph } from '../../parts/glyph.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import css from './ledger.module.css'

/** Says whether a signature fits, as this browser found. */
export function SignatureMark({ check }: { check: SignatureCheck }) {
  switch (check) {
    case 'verified':
      return <StateMark tone="committed" word="signature verified here" />
    case 'wrong':
      return <StateMark tone="refused" word="signature does not fit" />
    case 'unsigned':
      return <StateMark tone="offline" word="not signed" />
  }
}

/** The member that signed an entry, with its glyph; leads to its machine. */
export function Signer({ id }: { id: string }) {
  const { machines = [] } = useMachines()
  const self = machineOf(machines, id)?.reach.kind === 'self'
  return (
    <span className={css.owner}>
      <Glyph id={id} />
      <Link to="/machines/$id" params={{ id }} className={css.ownerName}>
        {nameOf(machines, id)}
      </Link>
      {self && <span className={css.hint}>this node</span>}
    </span>
  )
}
