/** Keys of the bucket `providers`: further members that offer a name, or route a network, whose own key has one owner. */
import { type PeerId, tryParsePeerId } from './peer-id.ts'

/** The name that several members offer, and one of these members. */
export interface ProviderKey {
  /** The bucket in which the name is a key: `services` or `routes`. */
  readonly bucket: string
  readonly name: string
  readonly peer: PeerId
}

/** Writes the key of one provider: bucket, name and peer id. The name is percent-encoded, so that it has no space. */
export function providerKey({ bucket, name, peer }: ProviderKey): string {
  return `${providerPrefix(bucket, name)}${peer}`
}

/** Gives the beginning of the keys of all providers of a name. */
export function providerPrefix(bucket: string, name: string): string {
  return `${bucket} ${encodeURIComponent(name)} `
}

/** Reads a key; undefined for one that no provider writes. */
export function parseProviderKey(key: string): ProviderKey | undefined {
  const [bucket = '', encoded = '', id = '', ...more] = key.split(' ', 4)
  const peer = tryParsePeerId(id)
  const name = decodeName(encoded)
  if (peer === undefined || name === undefined || more.length > 0) return undefined
  return encodeURIComponent(name) === encoded ? { bucket, name, peer } : undefined
}

function decodeName(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}
