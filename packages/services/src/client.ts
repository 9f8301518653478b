/**
 * Services of members for those that offer none: browser-safe, and no more than a stream.
 *
 * @example
 * ```ts
 * import { createServiceClient, type ServiceClientComponents } from '@mesh/services/client'
 *
 * export async function say(components: ServiceClientComponents, text: string): Promise<void> {
 *   const client = createServiceClient(components)
 *   const { stream } = await client.open('echo', AbortSignal.timeout(10_000))
 *   stream.send(new TextEncoder().encode(text))
 * }
 * ```
 */
export { serviceNameIn } from './http/service-url.ts'
export type {
  Announcer,
  ByteStream,
  ByteStreamOptions,
  ByteStreams,
  PeerPath,
  ServicesLedger,
  ServicesNetwork,
} from './ports.ts'
export {
  createServiceClient,
  type ServiceClient,
  type ServiceClientComponents,
} from './services/service-client.ts'
export type { OpenedStream } from './wire/request.ts'
