import type { NodeConnectionView, NodeDownloadView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import { printable } from '@mesh/core'
import { useTakesFreePort } from '../../data/changes.ts'
import { useNames } from '../../data/machines.tsx'
import { nodeUrl } from '../../data/node-url.ts'
import type { OffersRead } from '../../data/offers-read.ts'
import { offerCommands, receiveCommand } from '../../model/commands.ts'
import { downloadState, isUnderWay } from '../../model/download-words.ts'
import { type Progress, progressInWords } from '../../model/offer-progress.ts'
import {
  connectionsInWords,
  connectionState,
  fileState,
  fixedAddress,
  serviceState,
  takesFreePort,
} from '../../model/offer-words.ts'
import { bytesInWords, countInWords } from '../../model/rate-words.ts'
import { shownName, shownText } from '../../model/shown-name.ts'
import type { StateInWords } from '../../model/state-tone.ts'
import { cx } from '../../parts/class-names.ts'
import { Command, Copy } from '../../parts/copy.tsx'
import { Glyph } from '../../parts/glyph.tsx'
import { EmptyNote, Unread } from '../../parts/notes.tsx'
import { Facts, PanelSection, SidePanel } from '../../parts/panel.tsx'
import { Rate } from '../../parts/rate.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Age } from '../../parts/time.tsx'
import { exactTime } from '../../model/time-words.ts'
import page from '../page.module.css'
import css from './offers.module.css'
import { OpenLink } from './open-link.tsx'
import { EndDownload, Withdraw } from './withdraw.tsx'

type Fact = readonly [term: string, fact: React.ReactNode]

interface PanelProps<View> {
  readonly name: string
  readonly read: OffersRead<View>
}

/** One service that this node offers. */
export function ServicePanel(props: PanelProps<NodeServiceView>) {
  const name = useNames()
  return (
    <OwnPanel {...props} to="/services" missing="This node offers no service of this name">
      {(service) => (
        <>
          <StateAndSentence {...serviceState(service, name)} />
          <PanelSection title="Service">
            <Facts
              facts={[
                ['Target', <Copy key="target" text={service.Target} what="target" mono wrap />],
                ...healthFacts(service),
                ...trafficFacts(service),
              ]}
            />
          </PanelSection>
          <PanelSection title="Members reach it with">
            <Command text={connectCommand(service.Name)} />
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
      )}
    </OwnPanel>
  )
}

/** The time since which the target answers, or does not. */
function healthFacts({ State, Since }: NodeServiceView): readonly Fact[] {
  if (Since === null) return []
  const at = Date.parse(Since)
  return [
    [
      State === 'target down' ? 'Down since' : 'Healthy since',
      <>
        {exactTime(at)}, <Age at={at} />
      </>,
    ],
  ]
}

/** One service of a member that this node makes reachable. */
export function ConnectionPanel(props: PanelProps<NodeConnectionView>) {
  return (
    <OwnPanel {...props} to="/services" missing="This node is not connected to a service of this name">
      {(connection) => <ConnectionFacts connection={connection} />}
    </OwnPanel>
  )
}

function ConnectionFacts({ connection }: { connection: NodeConnectionView }) {
  const { Name, Listen, OpenConnections, Path, Provider, Transport } = connection
  const name = useNames()
  const changesPort = useTakesFreePort(Name) || takesFreePort(Listen)
  const facts: Fact[] = []
  if (Provider !== null) facts.push(['Provider', <Member key="provider" id={Provider} />])
  if (Path !== null) facts.push(['Path', Transport === null ? Path : `${Path}, over ${Transport}`])
  return (
    <>
      <StateAndSentence {...connectionState(connection, name)} />
      <PanelSection title="Reached on this machine at">
        <p className={css.reached}>
          <Copy text={Listen} what="address" mono wrap />
          {connection.State === 'connected' && <OpenLink name={shownName(Name)} listen={Listen} />}
        </p>
        {changesPort && <FreePortNote listen={Listen} />}
        {changesPort && <Command text={connectCommand(Name, fixedAddress(Listen))} />}
      </PanelSection>
      <PanelSection title="Connection">
        <Facts facts={[...facts, ...trafficFacts(connection)]} />
      </PanelSection>
      <Withdraw
        kind="connection"
        name={Name}
        action="Disconnect"
        affected={
          OpenConnections > 0
            ? `${connectionsInWords(OpenConnections)} of programs on this machine end now.`
            : 'No program uses it now.'
        }
        afterwards={`Nothing listens at ${Listen} any more. The service itself stays.`}
      />
    </>
  )
}

/** The command that makes a service of a member reachable on a machine. */
export function connectCommand(name: string, listen = '127.0.0.1:9000'): string {
  return offerCommands({ origin: nodeUrl, kind: 'connection', name }, listen).mesh
}

/** One file or folder that this node offers. */
export function FilePanel(props: PanelProps<NodeFileView>) {
  return (
    <OwnPanel {...props} to="/files" missing="This node offers no file of this name">
      {(file) => <FileFacts file={file} />}
    </OwnPanel>
  )
}

function FileFacts({ file }: { file: NodeFileView }) {
  const name = useNames()
  const receivers = [...new Set(file.Receivers.map(({ PeerID }) => name(PeerID)))]
  return (
    <>
      <StateAndSentence {...fileState(file, name)} />
      <PanelSection title="File or folder">
        <Facts
          facts={[
            ['Path', <Copy key="path" text={file.Path} what="path" mono wrap />],
            ['Completed', `${countInWords(file.Completed)} since the node started`],
            keptFact(file),
            ...errorFacts(file),
          ]}
        />
      </PanelSection>
      <PanelSection title="Receiving now">
        {file.Receivers.length === 0 && <p className={css.hint}>Nobody.</p>}
        <ul className={css.transfers}>
          {file.Receivers.map((receiver, at) => (
            <li key={`${receiver.PeerID} ${at}`} className={css.transfer}>
              <Member id={receiver.PeerID} />
              <TransferProgress label={`Sent to ${name(receiver.PeerID)}`} progress={receiver} />
            </li>
          ))}
        </ul>
      </PanelSection>
      <PanelSection title="Members fetch it with">
        <Command text={receiveCommand(file.Name)} />
      </PanelSection>
      <Withdraw
        kind="file"
        name={file.Name}
        action="Withdraw"
        affected={
          receivers.length === 0
            ? 'No member receives it now.'
            : `${receivers.join(', ')} ${receivers.length === 1 ? 'receives' : 'receive'} it now and must wait until it is offered again.`
        }
        afterwards={`The file itself stays at ${printable(file.Path)}.`}
      />
    </>
  )
}

/** One file or folder of a member that this node fetches, or fetched. */
export function DownloadPanel(props: PanelProps<NodeDownloadView>) {
  const name = useNames()
  return (
    <OwnPanel
      {...props}
      to="/files"
      missing="This node fetches nothing of this name"
      why="It may have been ended, or the node was started anew."
    >
      {(download) => (
        <>
          <StateAndSentence {...downloadState(download, name)} />
          {download.State === 'receiving' && (
            <PanelSection title="Progress">
              <div className={css.transfer}>
                <TransferProgress label={`Received of ${printable(download.Name)}`} progress={download} />
              </div>
            </PanelSection>
          )}
          <PanelSection title="File or folder">
            <Facts facts={downloadFacts(download)} />
          </PanelSection>
          {download.State === 'failed' && (
            <PanelSection title="Go on with it by">
              <Command text={receiveCommand(download.Name, download.Destination)} />
            </PanelSection>
          )}
          <EndDownload download={download} isUnderWay={isUnderWay(download)} />
        </>
      )}
    </OwnPanel>
  )
}

function downloadFacts(download: NodeDownloadView): readonly Fact[] {
  const { Provider, Files, WrittenTo, Destination, Hint, State, Bytes } = download
  const place = <Copy key="place" text={WrittenTo ?? Destination} what="path" mono wrap />
  const facts: Fact[] = []
  if (Provider !== null) facts.push(['Sender', <Member key="sender" id={Provider} />])
  facts.push([WrittenTo === null ? 'Goes to' : 'Stands at', place])
  if (Files !== null) facts.push(['Files', countInWords(Files)])
  if (State !== 'receiving' && Bytes > 0) facts.push(['Size', bytesInWords(Bytes)])
  facts.push(...errorFacts(download))
  if (Hint !== null) facts.push(['What to do', shownText(Hint)])
  return facts
}

interface OwnPanelProps<View> extends PanelProps<View> {
  readonly to: '/services' | '/files'
  /** Says that it is not there: `This node offers no file of this name`. */
  readonly missing: string
  /** A whole sentence: how that can be. */
  readonly why?: string
  readonly children: (view: View) => React.ReactNode
}

/** A panel about what this node has under a name; or says that it is not there: not yet, not here, or not any more. */
function OwnPanel<View extends { readonly Name: string }>(props: OwnPanelProps<View>) {
  const { name, read, to, missing, why = 'It may have been withdrawn.', children } = props
  const view = read.data?.find(({ Name }) => Name === name)
  return (
    <SidePanel to={to} label={shownName(name)}>
      {read.obstacle === 'joining' && <p role="status">The node has not joined its network yet.</p>}
      {read.obstacle === 'remote' && (
        <p>This is shown only where the page is opened on the machine of the node.</p>
      )}
      {read.obstacle === undefined && <Unread what="it" read={read} />}
      {read.data !== undefined && view === undefined && (
        <EmptyNote title={missing}>
          <p>{why}</p>
        </EmptyNote>
      )}
      {view !== undefined && children(view)}
    </SidePanel>
  )
}

function StateAndSentence({ tone, word, detail, sentence }: StateInWords) {
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

/** A member by its name. */
export function Member({ id }: { id: string }) {
  const name = useNames()
  return (
    <span className={css.member}>
      <Glyph id={id} />
      {name(id)}
    </span>
  )
}

/** Port 0 is convenient once and a surprise at the next start. @param listen with port 0, or the port that it became */
export function FreePortNote({ listen }: { listen: string }) {
  return (
    <p className={cx(css.note, css.remark)}>
      The port is a free one, and another one after each restart of the node. Give one to keep it:{' '}
      <code>{fixedAddress(listen)}</code>
    </p>
  )
}

interface TransferProgressProps {
  /** The bar's name, for screen readers. */
  readonly label: string
  readonly progress: Progress & { readonly Path: string | null; readonly Transport: string | null }
}

/** How far a transfer is: a bar, and below it how much, over which path, how fast and how long yet. */
function TransferProgress({ label, progress }: TransferProgressProps) {
  const { percent, bytes, left } = progressInWords(progress)
  const parts = [percent === undefined ? null : `${percent} %`, bytes, progress.Path, progress.Transport]
  return (
    <>
      {progress.TotalBytes !== null && (
        <progress value={progress.Bytes} max={Math.max(1, progress.TotalBytes)} aria-label={label} />
      )}
      <span className={css.hint}>
        {parts.filter((part) => part !== null).join(', ')}, <Rate bytesPerSecond={progress.Rate} />
        {left !== undefined && `, ${left} left`}
      </span>
    </>
  )
}

function trafficFacts(view: NodeServiceView | NodeConnectionView): readonly Fact[] {
  return [
    ['Connections', `${countInWords(view.OpenConnections)} open, ${countInWords(view.Connections)} in all`],
    ['In', bytesInWords(view.BytesIn)],
    ['Out', bytesInWords(view.BytesOut)],
    keptFact(view),
    ...errorFacts(view),
  ]
}

function keptFact({ Kept }: { readonly Kept: boolean }): Fact {
  return ['After a restart', Kept ? 'comes back' : 'as the options of the node say']
}

function errorFacts({ LastError }: { readonly LastError: string | null }): readonly Fact[] {
  if (LastError === null) return []
  const text = (
    <span key="error" className={css.failure}>
      {shownText(LastError)}
    </span>
  )
  return [['Last error', text]]
}
