/**
 * Takes more than one connection in a turn of the event loop where many wait. libuv accepts one for each listening
 * descriptor and turn, and turns of a busy node are long: who opens connections by the hundred has everybody else wait
 * behind them, for half a minute and more. So a TCP server that accepts in many turns on end listens on further
 * descriptors of its socket, which are no other sockets: they share the queue, and each takes one connection a turn.
 *
 * Node 26.10; it keeps the handle and what it calls to itself, and where a later version has neither, a server goes on as
 * it did. The report to send: an option of `server.listen` for how many connections a turn takes.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:net'

/** The inner end of a server of Node. */
interface Handle {
  readonly fd: number
  readonly constructor: new (type: number) => Handle
  onconnection?: unknown
  open(fd: number): number
  listen(backlog: number): number
  close(...args: unknown[]): unknown
  hasRef(): boolean
  unref(): void
}

/** Gives a further descriptor of a socket; it may throw, and then a server goes on as it did. */
type Duplicate = (fd: number) => number

interface AcceptBacklogComponents {
  /** Asked when the first server is busy. */
  readonly loadDuplicate: () => Promise<Duplicate>
}

const LISTENING = 'tracing:net.server.listen:asyncEnd'
/** The turns on end with a connection in each after which more are taken: on a node that keeps up they do not follow. */
const BUSY_TURNS = 8
/** The further descriptors of a server: a connection that comes alone costs as many calls that find nothing. */
const FURTHER_DESCRIPTORS = 31
/** The most connections that may wait: of the shared queue, so that it is never less than the server asked for. */
const BACKLOG = 4_096
/** The type of a handle that listens, for its constructor. */
const SERVER = 1

/** Does so for all TCP servers of this process that listen from now on; the returned function ends that. */
export function acceptBacklogs({ loadDuplicate }: AcceptBacklogComponents): () => void {
  const onListening = (message: unknown) => {
    const { server } = message as { readonly server: Server }
    if (typeof server.address() === 'object') watch(server, loadDuplicate)
  }
  subscribe(LISTENING, onListening)
  return () => unsubscribe(LISTENING, onListening)
}

/** The engine's addon has it. */
export async function loadEngineDuplicate(): Promise<Duplicate> {
  const { duplicateDescriptor } = await import('@mesh/engine')
  return (fd) => duplicateDescriptor(fd)
}

/** Counts the turns on end in which the server accepts: one connection each. */
function watch(server: Server, loadDuplicate: () => Promise<Duplicate>): void {
  const handle = handleOf(server)
  if (handle === undefined) return
  let turns = 0
  let quiet: NodeJS.Immediate | undefined
  const onConnection = () => {
    clearImmediate(quiet)
    turns++
    if (turns < BUSY_TURNS) {
      // the second is that of the next turn
      quiet = setImmediate(() => (quiet = setImmediate(() => (turns = 0))))
      return
    }
    server.off('connection', onConnection)
    void widen(server, handle, loadDuplicate)
  }
  server.on('connection', onConnection)
}

async function widen(server: Server, handle: Handle, loadDuplicate: () => Promise<Duplicate>): Promise<void> {
  const further: Handle[] = []
  try {
    const duplicate = await loadDuplicate()
    if (handleOf(server) !== handle) return
    while (further.length < FURTHER_DESCRIPTORS) further.push(furtherOf(server, handle, duplicate))
  } catch {
    // no addon, or no more descriptors: as many as there are
  }
  const close = handle.close
  handle.close = (...args) => {
    for (const each of further) each.close()
    return close.apply(handle, args)
  }
}

/** A handle whose connections the server gets as those of its own. */
function furtherOf(server: Server, handle: Handle, duplicate: Duplicate): Handle {
  const further = new handle.constructor(SERVER)
  further.onconnection = handle.onconnection
  const own = handle as unknown as Record<symbol, unknown>
  const [owner] = Object.getOwnPropertySymbols(own).filter((name) => own[name] === server)
  if (owner === undefined) throw new Error('the handle does not name its server')
  Object.assign(further, { [owner]: server })
  const failure = further.open(duplicate(handle.fd)) || further.listen(BACKLOG)
  if (failure !== 0) {
    further.close()
    throw new Error(`a further descriptor does not listen: ${failure}`)
  }
  if (!handle.hasRef()) further.unref()
  return further
}

function handleOf(server: Server): Handle | undefined {
  const { _handle: handle } = server as Server & { readonly _handle?: Partial<Handle> | null }
  const isWhole = typeof handle?.onconnection === 'function' && typeof handle.open === 'function'
  return isWhole ? (handle as Handle) : undefined
}
