import { ApiError } from '@mesh/api-client'
import type { VpnView } from '@mesh/api-contract'
import { Link, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { useChooseExit } from '../../data/changes.ts'
import { useMachines } from '../../data/machines.tsx'
import { useExit } from '../../data/reads.ts'
import { FilterField } from '../../frame/filter-field.tsx'
import { type Exit, exitInWords, exitState, familiesInWords } from '../../model/exit-words.ts'
import { machineOf, nameOrOwn } from '../../model/machine.ts'
import { shownName } from '../../model/shown-name.ts'
import { shellQuote } from '../../model/commands.ts'
import { cx } from '../../parts/class-names.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Unread, WriteErrorNote } from '../../parts/notes.tsx'
import { ReachMark } from '../../parts/reach-mark.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { EmptyPicture } from '../../parts/empty-picture.tsx'
import page from '../page.module.css'
import css from './exit.module.css'

/** The word for whichever exit node is nearest, and how people read it. */
const [ANY, NEAREST] = ['any', 'the nearest exit node']

/** A member that offers to be the exit. */
type Offer = VpnView['Peers'][number]

/** Which way this machine takes to the Internet, and choosing another. */
export function ExitPage() {
  const { q = '' } = useSearch({ from: '/exit' })
  const filter = useDeferredValue(q).trim().toLowerCase()
  const read = useExit()
  const { data, error } = read
  const hasNoVpn = error instanceof ApiError && error.code === 'vpn.not_running'
  return (
    <div className={page.page}>
      <header className={page.head}>
        <h1>Exit node</h1>
        <FilterField />
      </header>
      <p className={page.sub}>
        Sends this machine's Internet traffic (IPv4, IPv6 and DNS) through another member.
      </p>
      {hasNoVpn && (
        <p>
          Exit nodes need the VPN. Start the node with <code>sudo mesh</code> instead of <code>mesh api</code>
          .
        </p>
      )}
      {!hasNoVpn && <Unread what="the exit node" read={read} />}
      {data !== undefined && <ExitChoice vpn={data} filter={filter} />}
    </div>
  )
}

function ExitChoice({ vpn, filter }: { vpn: VpnView; filter: string }) {
  const choose = useChooseExit()
  const [asked, setAsked] = useState<{ readonly peer: string | null }>()
  const { machines = [] } = useMachines()
  const { ExitNode, OffersExit, Peers } = vpn
  const name = ({ Hostname, PeerID }: Pick<Offer, 'Hostname' | 'PeerID'>) =>
    nameOrOwn(machines, PeerID, Hostname)
  const offers = Peers.filter((peer) => peer.OffersExit !== null).toSorted((one, other) =>
    name(one).localeCompare(name(other), 'en', { numeric: true }),
  )
  const isWanted = (offer: Offer) =>
    [name(offer), offer.PeerID, ...offer.Addresses].some((text) => text.toLowerCase().includes(filter))
  const found = offers.find(({ PeerID }) => PeerID === asked?.peer)
  const askedName = found === undefined ? (asked?.peer === ANY ? NEAREST : undefined) : name(found)
  return (
    <>
      <ExitNow
        exit={ExitNode}
        offers={OffersExit}
        busy={choose.isPending}
        onEnd={() => setAsked({ peer: null })}
      />
      <WriteErrorNote error={choose.error} />
      <section className={page.section} aria-label="Members that offer to be the exit">
        <h2>
          Offered <span>by members</span>
        </h2>
        {offers.length > 1 && ExitNode?.Wanted !== ANY && (
          <Button disabled={choose.isPending || OffersExit !== null} onClick={() => setAsked({ peer: ANY })}>
            Use the nearest one
          </Button>
        )}
        {offers.length === 0 && <EmptyPicture of="exit" />}
        {offers.length === 0 && (
          <p className={css.faint}>
            Nobody offers to be the exit. A member that is started with <code>--advertise-exit</code> does.
          </p>
        )}
        <ul>
          {offers.filter(isWanted).map((offer) => (
            <OfferRow
              key={offer.PeerID}
              offer={offer}
              name={name(offer)}
              isChosen={offer.PeerID === ExitNode?.PeerID}
              isBusy={choose.isPending || OffersExit !== null}
              onUse={() => setAsked({ peer: offer.PeerID })}
            />
          ))}
        </ul>
        {offers.length > 0 && !offers.some(isWanted) && (
          <p className={css.faint}>Nobody here fits the filter.</p>
        )}
      </section>
      {asked !== undefined && (asked.peer === null || askedName !== undefined) && (
        <AskFirst
          name={askedName}
          peer={asked.peer}
          onClose={() => setAsked(undefined)}
          onConfirm={() => choose.mutate(asked.peer)}
        />
      )}
    </>
  )
}

interface ExitNowProps {
  readonly exit: Exit | null
  /** The families that this node forwards for others; null: it is no exit node itself. */
  readonly offers: VpnView['OffersExit']
  readonly busy: boolean
  readonly onEnd: () => void
}

/** The way that packets take now. */
function ExitNow({ exit, offers, busy, onEnd }: ExitNowProps) {
  const { machines = [] } = useMachines()
  if (exit === null) {
    return (
      <section className={css.now} aria-label="In use" role="status">
        <StateMark tone="offline" word="none" />
        <p>Internet traffic leaves this machine directly.</p>
        {offers !== null && (
          <p>
            This node is an exit node itself, for {familiesInWords(offers)} of members, and can use no other.
          </p>
        )}
      </section>
    )
  }
  const { tone, word } = exitState(exit)
  const { PeerID, Hostname, Wanted } = exit
  return (
    <section className={css.now} aria-label="In use" role="status">
      <p className={css.who}>
        {PeerID !== null && <Glyph id={PeerID} />}
        {PeerID === null ? (
          shownName(Hostname || Wanted)
        ) : (
          <Link to="/machines/$id" params={{ id: PeerID }} className={page.link}>
            {nameOrOwn(machines, PeerID, Hostname || Wanted)}
          </Link>
        )}
        <StateMark tone={tone} word={word} />
      </p>
      <p>{sentence(exitInWords(exit))}</p>
      <Button busy={busy} onClick={() => !busy && onEnd()}>
        Stop using it
      </Button>
    </section>
  )
}

interface OfferRowProps {
  readonly offer: Offer
  readonly name: string
  readonly isChosen: boolean
  readonly isBusy: boolean
  readonly onUse: () => void
}

function OfferRow({ offer, name, isChosen, isBusy, onUse }: OfferRowProps) {
  const { machines = [] } = useMachines()
  const machine = machineOf(machines, offer.PeerID)
  return (
    <li className={css.row}>
      <span className={css.name}>
        <Glyph id={offer.PeerID} />
        <Link to="/machines/$id" params={{ id: offer.PeerID }}>
          {name}
        </Link>
      </span>
      <span className={css.fact}>{machine !== undefined && <ReachMark machine={machine} />}</span>
      <span className={cx(css.fact, css.faint)}>{familiesInWords(offer.OffersExit ?? [])}</span>
      {isChosen ? (
        <span className={css.chosen}>chosen</span>
      ) : (
        <Button disabled={isBusy} onClick={onUse} aria-label={`Use ${name}`}>
          Use
        </Button>
      )}
    </li>
  )
}

interface AskFirstProps {
  readonly name: string | undefined
  /** Null: none is to be used any more. */
  readonly peer: string | null
  readonly onClose: () => void
  readonly onConfirm: () => void
}

function AskFirst({ name, peer, onClose, onConfirm }: AskFirstProps) {
  if (peer === null) {
    return (
      <Confirm
        title="Stop using the exit node?"
        action="Stop using it"
        commands={['mesh exit-node off']}
        onClose={onClose}
        onConfirm={onConfirm}
      >
        <p>
          Internet traffic leaves this machine directly again, with its own address. Connections through the
          exit node end.
        </p>
      </Confirm>
    )
  }
  return (
    <Confirm
      title={`Send all Internet traffic through ${name}?`}
      action="Use it"
      commands={[`mesh exit-node ${shellQuote(peer)}`]}
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>
        All Internet traffic of this machine leaves through {name}, which sees its destinations. Open
        connections end. While {name} cannot be reached, this machine drops its Internet traffic. The choice
        survives restarts.
      </p>
    </Confirm>
  )
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
