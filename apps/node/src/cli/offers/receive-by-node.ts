/** Has the node that runs here fetch a share, and follows it until it stands or Ctrl-C. */
import { normalize } from 'node:path'
import { type ApiClient, ApiError } from '@mesh/api-client'
import type { NodeDownloadView } from '@mesh/api-contract'
import { type Clock, createDeadline, delay, MeshError, parsePeerId, shortPeerId, toError } from '@mesh/core'
import type { ReceivedFile, ReceiveState } from '@mesh/services'
import { EXIT } from '../../errors.ts'
import type { Call } from '../command.ts'
import { KEPT_NOTE, tellReceived } from './tell-received.ts'
import { createTransferDisplay, type TransferDisplay } from './show-transfer.ts'

/** How often the node is asked how far it is. */
const ASK_EVERY_MS = 250
/** How long Ctrl-C waits for the node to give it up, in ms. */
const GIVE_UP_MS = 1_000

interface ReceiveByNodeInit {
  readonly name: string
  /** Absolute; with a slash at its end: a folder to write into. */
  readonly destination: string
  readonly signal: AbortSignal
}

/** @throws MeshError with the code of what went wrong at the node */
export async function receiveByNode(
  init: ReceiveByNodeInit,
  { call, client, clock }: { readonly call: Call; readonly client: ApiClient; readonly clock: Clock },
): Promise<number> {
  const { name, signal } = init
  const now = () => clock.now()
  const display = createTransferDisplay({ name, nameOf: shortPeerId }, { call, now })
  const began = now()
  try {
    await begin(init, { call, client })
    const received = await follow(init, { client, clock, display })
    display.end()
    return tellReceived(name, received, { call, tookMs: now() - began })
  } catch (error) {
    display.end()
    if (!signal.aborted) {
      // a node that was stopped or started anew goes on only when it is asked again
      if (error instanceof ApiError && error.code === 'client.unreachable') call.note(KEPT_NOTE)
      throw toError(error)
    }
    await giveUp(name, { client, clock })
    call.note(KEPT_NOTE)
    return EXIT.interrupted.code
  }
}

async function begin(
  { name, destination, signal }: ReceiveByNodeInit,
  { call, client }: { readonly call: Call; readonly client: ApiClient },
): Promise<void> {
  const { Name: node } = await client.getNode({}, { signal })
  if (!call.settings.json) {
    call.note(
      `${node === '' ? 'The node that runs here' : `The node ${node}, which runs here,`} receives it.`,
    )
  }
  await client.putNodeDownload({ name, body: { Destination: destination } }, { signal })
}

/** A node that does not answer is not waited for: whoever pressed Ctrl-C wants to go. */
async function giveUp(
  name: string,
  { client, clock }: { readonly client: ApiClient; readonly clock: Clock },
): Promise<void> {
  const reason = () => new Error('the node does not answer')
  const deadline = createDeadline({ clock, ms: GIVE_UP_MS, reason })
  await client.deleteNodeDownload({ name }, deadline).catch((error: unknown) => {
    if (!deadline.signal.aborted) unlessGone(error)
  })
  deadline.stop()
}

interface Followed {
  readonly client: ApiClient
  readonly clock: Clock
  readonly display: TransferDisplay
}

async function follow(init: ReceiveByNodeInit, { client, clock, display }: Followed): Promise<ReceivedFile> {
  const { signal } = init
  let shown: string | undefined
  for (;;) {
    signal.throwIfAborted()
    const view = await viewOf(init, client)
    const { State, WrittenTo, Provider, Bytes, Verified, LastError, ErrorCode, Hint } = view
    if (State === 'received') {
      const provider = parsePeerId(Provider ?? '')
      const leftOut = { count: view.LeftOut ?? 0, names: view.LeftOutNames }
      return { path: WrittenTo ?? '', provider, bytes: Bytes, isVerified: Verified === true, leftOut }
    }
    if (State === 'failed') {
      throw new MeshError(ErrorCode ?? 'node.unexpected', LastError ?? 'it failed', {
        ...(Hint !== null && { hint: Hint }),
      })
    }
    const text = JSON.stringify(view)
    if (text !== shown) display.show(stateOf(view))
    shown = text
    await delay(clock, ASK_EVERY_MS, signal)
  }
}

/** @throws MeshError `files.ended` where somebody else ended it, or asked for the name to another place */
async function viewOf(
  { name, destination, signal }: ReceiveByNodeInit,
  client: ApiClient,
): Promise<NodeDownloadView> {
  const view = await client.getNodeDownload({ name }, { signal }).catch(unlessGone)
  if (view?.Destination === normalize(destination)) return view
  const how = view === undefined ? 'it was ended at the node' : `it goes to ${view.Destination} now`
  throw new MeshError('files.ended', `${how}, as somebody else asked`, { hint: KEPT_NOTE })
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof ApiError) || error.code !== 'services.unknown') throw toError(error)
}

function stateOf(view: NodeDownloadView): ReceiveState {
  const { State, Provider, Path, Transport, Files, Bytes, TotalBytes, Rate, LeftMs, LastError } = view
  if (State === 'retrying') return { type: 'retrying', reason: LastError ?? '', inMs: 0 }
  if (Provider === null) return { type: 'waiting' }
  const provider = parsePeerId(Provider)
  if (State !== 'receiving') return { type: 'connecting', provider }
  return {
    type: 'receiving',
    provider,
    path: Path ?? undefined,
    transport: Transport ?? undefined,
    fileCount: Files ?? 0,
    bytes: Bytes,
    totalBytes: TotalBytes ?? undefined,
    rate: Rate,
    leftMs: LeftMs ?? undefined,
  }
}
