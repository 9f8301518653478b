/** The serving side: requests of members for the services of this node, over `/mesh/service/1`. */
import type { Socket } from 'node:net'
import { type Clock, toError } from '@mesh/core'
import { DIAL_MS } from '../limits.ts'
import type { ByteStream } from '../ports.ts'
import { type DatagramPipe, pipeDatagrams } from '../streams/datagrams.ts'
import { dial } from '../streams/dial.ts'
import { spliceToEnd } from '../streams/splice.ts'
import { sharedBy } from '../streams/unwritten.ts'
import { lookUpUdp } from '../streams/udp-socket.ts'
import { openUdpTarget } from '../streams/udp-target.ts'
import { type Accepted, type AcceptComponents, acceptRequest, RequestRefused } from '../wire/accept.ts'
import { decodeServiceRequest, type ServiceRequest } from '../wire/messages.ts'
import { type Endpoint, socketAddressOf } from '../streams/endpoint.ts'
import type { ExposedService } from './exposed-service.ts'
import { offerOfService } from './target.ts'
import { acceptStream } from './serve-program.ts'

/** Never rejects; the stream is over then. */
export function serveService(
  stream: ByteStream,
  find: (name: string) => ExposedService | undefined,
  components: AcceptComponents,
): Promise<void> {
  return acceptRequest(
    stream,
    {
      protocol: 'service',
      decode: decodeServiceRequest,
      async handle(accepted) {
        const { name, kind } = accepted.request
        const service = find(name)
        if (service === undefined) throw new RequestRefused('unknown_service', 'no service of this name here')
        if (service.kind !== kind) throw new RequestRefused('wrong_kind', kindReason(service))
        accepted.requireAllowed(offerOfService(name, service.target))
        service.connections++
        if (kind === 'datagram') await joinUdp(accepted, service, components)
        else await joinStream(accepted, service, components)
      },
    },
    components,
  )
}

function kindReason({ kind }: ExposedService): string {
  return kind === 'datagram'
    ? 'this service is UDP: connect to it with udp:HOST:PORT'
    : 'this service is TCP: connect to it with HOST:PORT'
}

async function joinStream(
  { stream, rest, signal, answerOk }: Accepted<ServiceRequest>,
  service: ExposedService,
  { clock, network, unwritten }: AcceptComponents,
): Promise<void> {
  const { target, traffic, open } = service
  if (target.type === 'program') {
    answerOk()
    return await acceptStream(stream, { service, target, head: rest, clock })
  }
  const socket = await dialTarget(service, target, { clock, signal })
  answerOk()
  const shared = sharedBy(unwritten.served, stream, network)
  await spliceToEnd(socket, stream, { traffic, open, head: rest, shared })
}

/** @throws as `reach` */
export function dialTarget(
  service: ExposedService,
  target: Endpoint,
  {
    clock,
    signal,
    isPaused = true,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly isPaused?: boolean },
): Promise<Socket> {
  const address = socketAddressOf(target)
  return reach(service, signal, () => dial({ address, withinMs: DIAL_MS, clock, signal, isPaused }))
}

async function joinUdp(
  { stream, rest, signal, answerOk }: Accepted<ServiceRequest>,
  service: ExposedService,
  { clock }: AcceptComponents,
): Promise<void> {
  const { target } = service
  if (target.type !== 'udp') return
  let pipe: DatagramPipe | undefined
  const targetInit = {
    onDatagram: (datagram: Uint8Array) => void pipe?.send(datagram),
    onError: (error: Error) => service.health.failed(error.message),
    clock,
  }
  const socket = await reach(service, signal, async () =>
    openUdpTarget(await lookUpUdp(target, 'services.target_down'), targetInit),
  )
  answerOk()
  await new Promise<void>((resolve) => {
    const end = () => pipe?.close()
    service.open.add(end)
    pipe = pipeDatagrams(stream, {
      head: rest,
      traffic: service.traffic,
      clock,
      onDatagram: (datagram) => socket.send(datagram),
      onDone() {
        service.open.delete(end)
        socket.close()
        resolve()
      },
    })
  })
}

/** @throws RequestRefused when the target does not answer; the signal's reason */
async function reach<Target>(
  service: ExposedService,
  signal: AbortSignal,
  open: () => Promise<Target>,
): Promise<Target> {
  try {
    const socket = await open()
    service.health.worked()
    return socket
  } catch (error) {
    signal.throwIfAborted()
    const reason = toError(error).message
    service.lastError = reason
    service.health.failed(reason)
    throw new RequestRefused('target_down', `the service's target does not answer: ${reason}`)
  }
}
