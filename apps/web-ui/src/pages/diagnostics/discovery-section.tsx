import type { ReachabilityView } from '@mesh/api-contract'
import { useRead } from '../../data/reads.ts'
import { shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Unread } from '../../parts/notes.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import page from '../page.module.css'
import css from './diagnostics.module.css'

/** Nothing tells the page what discovery finds. */
const REACHABILITY_EVERY_MS = 5_000

/** Each way of finding peers with what it found, and how others reach this node. */
export function DiscoverySection() {
  const read = useRead('getReachability', {}, { everyMs: REACHABILITY_EVERY_MS })
  return (
    <>
      <section className={page.section} aria-label="Discovery">
        <h2>
          Discovery <span>how this node finds peers, and is found</span>
        </h2>
        <Unread what="the ways of discovery" read={read} />
        <ul className={css.rows} aria-label="Ways of discovery">
          {read.data?.Ways.map((way) => (
            <Way key={way.Name} way={way} />
          ))}
        </ul>
      </section>
      {read.data !== undefined && <Addresses addresses={read.data.Addresses} />}
    </>
  )
}

function Way({ way: { Name, Enabled, Found, LastError } }: { way: ReachabilityView['Ways'][number] }) {
  return (
    <li className={css.row}>
      {Enabled ? (
        <StateMark tone={LastError === null ? 'direct' : 'warning'} word="on" />
      ) : (
        <StateMark tone="offline" word="off" />
      )}
      <b>{shownText(Name)}</b>
      <div>
        {Enabled && Found !== null && <p>{Found === 1 ? 'found 1 peer' : `found ${Found} peers`}</p>}
        {Enabled && Found === null && <p>helps others to reach this node</p>}
        {LastError !== null && <p className={css.next}>{shownText(LastError)}</p>}
      </div>
    </li>
  )
}

function Addresses({ addresses }: { addresses: ReachabilityView['Addresses'] }) {
  return (
    <section className={page.section} aria-label="Addresses of this node">
      <h2>
        Addresses <span>at which others can dial this node</span>
      </h2>
      {addresses.length === 0 && <p className={page.sub}>None: others cannot dial this node.</p>}
      <ul className={css.addresses}>
        {addresses.map((address) => (
          <li key={address}>
            <Copy text={address} what="address" mono wrap />
          </li>
        ))}
      </ul>
    </section>
  )
}
