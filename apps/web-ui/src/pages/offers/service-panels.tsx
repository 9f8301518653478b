import type { NodeConnectionView, NodeServiceView } from '@mesh/api-contract'
import { nodeUrl } from '../../data/node-url.ts'
import { useMachines } from '../../data/machines.tsx'
import { useTakesFreePort } from '../../data/offers.ts'
import { type OffersRead } from '../../data/offers-read.ts'
import { offerCommands } from '../../model/commands.ts'
import { nameOf } from '../../model/machine.ts'
import {
  connectionsInWords,
  connectionState,
  fixedAddress,
  serviceState,
  takesFreePort,
} from '../../model/offer-words.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownText } from '../../model/shown-name.ts'
import { Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { Facts, PanelSection } from '../../parts/panel.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import page from '../page.module.css'
import { FreePortNote } from './free-port-note.tsx'
import css from './offers.module.css'
import { MissingOffer } from './missing-offer.tsx'
import { SidePanel } from '../side-panel.tsx'
import { Withdraw } from './withdraw.tsx'

export type Fact = readonly [term: string, fact: React.ReactNode]

interface PanelProps<View> {
  readonly name: string
  readonly read: OffersRead<View>
}

/** One service that this node offers. */
export function ServicePanel({ name, read }: PanelProps<NodeServiceView>) {
  const service = read.offers?.find(({ Name }) => Name === name)
  return (
    <SidePanel to="/services" label={name}>
      {service === undefined ? (
        <MissingOffer read={read} what="This node offers no service of this name" />
      ) : (
        <ServiceFacts service={service} />
      )}
    </SidePanel>
  )
}

function ServiceFacts({ service }: { service: NodeServiceView }) {
  const { machines } = useMachines()
  const { tone, word, detail, sentence } = serviceState(service, (id) => nameOf(machines ?? [], id))
  const at = { origin: nodeUrl, name: service.Name }
  return (
    <>
      <StateAndSentence tone={tone} word={word} detail={detail} sentence={sentence} />
      <PanelSection title="Service">
        <Facts
          facts={[
            ['Target', <Copy key="target" text={service.Target} what="target" mono wrap />],
            ...trafficFacts(service),
          ]}
        />
      </PanelSection>
      <PanelSection title="Members reach it with">
        <Copy
          text={offerCommands({ ...at, kind: 'connection' }, '127.0.0.1:9000').mesh}
          what="command"
          mono
          wrap
        />
      </PanelSection>
      <Withdraw
        kind="service"
        name={service.Name}
        action="Withdraw"
        affected={
          service.OpenConnections > 0
            ? `${connectionsInWords(service.OpenConnections)} of members to it end now.`
            : 'No member is connected to it now.'
        }
        afterwards="Members that connect to this name wait until somebody offers it again."
      />
    </>
  )
}

/** One service of a member that this node makes reachable. */
export function ConnectionPanel({ name, read }: PanelProps<NodeConnectionView>) {
  const connection = read.offers?.find(({ Name }) => Name === name)
  return (
    <SidePanel to="/services" label={name}>
      {connection === undefined ? (
        <MissingOffer read={read} what="This node is not connected to a service of this name" />
      ) : (
        <ConnectionFacts connection={connection} />
      )}
    </SidePanel>
  )
}

function ConnectionFacts({ connection }: { connection: NodeConnectionView }) {
  const { machines } = useMachines()
  const name = (id: string) => nameOf(machines ?? [], id)
  const { tone, word, detail, sentence } = connectionState(connection, name)
  const changesPort = useTakesFreePort(connection.Name) || takesFreePort(connection.Listen)
  const at = { origin: nodeUrl, name: connection.Name }
  const facts: Fact[] = []
  if (connection.Provider !== null) {
    facts.push([
      'Provider',
      <span key="provider" className={css.member}>
        <Glyph id={connection.Provider} />
        {name(connection.Provider)}
      </span>,
    ])
  }
  const { Path, Transport } = connection
  if (Path !== null) facts.push(['Path', Transport === null ? Path : `${Path}, over ${Transport}`])
  return (
    <>
      <StateAndSentence tone={tone} word={word} detail={detail} sentence={sentence} />
      <PanelSection title="Reached on this machine at">
        <Copy text={connection.Listen} what="address" mono wrap />
        {changesPort && <FreePortNote listen={connection.Listen} />}
        {changesPort && (
          <Copy
            text={offerCommands({ ...at, kind: 'connection' }, fixedAddress(connection.Listen)).mesh}
            what="command"
            mono
            wrap
          />
        )}
      </PanelSection>
      <PanelSection title="Connection">
        <Facts facts={[...facts, ...trafficFacts(connection)]} />
      </PanelSection>
      <Withdraw
        kind="connection"
        name={connection.Name}
        action="Disconnect"
        affected={
          connection.OpenConnections > 0
            ? `${connectionsInWords(connection.OpenConnections)} of programs on this machine end now.`
            : 'No program uses it now.'
        }
        afterwards={`Nothing listens at ${connection.Listen} any more. The service itself stays.`}
      />
    </>
  )
}

type StateAndSentenceProps = ReturnType<typeof serviceState>

export function StateAndSentence({ tone, word, detail, sentence }: StateAndSentenceProps) {
  return (
    <div role="status">
      <p>
        <StateMark tone={tone} word={word}>
          {detail}
        </StateMark>
      </p>
      <p className={page.sub}>{sentence}</p>
    </div>
  )
}

function trafficFacts(view: NodeServiceView | NodeConnectionView): readonly Fact[] {
  const facts: Fact[] = [
    ['Connections', `${countInWords(view.OpenConnections)} open, ${countInWords(view.Connections)} in all`],
    ['In', bytesInWords(view.BytesIn)],
    ['Out', bytesInWords(view.BytesOut)],
    keptFact(view.Kept),
  ]
  if (view.LastError !== null) facts.push(errorFact(view.LastError))
  return facts
}

export function keptFact(kept: boolean): Fact {
  return ['After a restart', kept ? 'comes back' : 'as the options of the node say']
}

export function errorFact(text: string): Fact {
  return [
    'Last error',
    <span key="error" className={css.failure}>
      {shownText(text)}
    </span>,
  ]
}
