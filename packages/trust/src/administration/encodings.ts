/** Bytes as text, and back: the same in Node.js and in browsers. */
import { base16 } from 'multiformats/bases/base16'
import { base64url } from 'multiformats/bases/base64'

export const toBase64url = (bytes: Uint8Array): string => base64url.baseEncode(bytes)
export const toHex = (bytes: Uint8Array): string => base16.baseEncode(bytes)
export const fromHex = (text: string): Uint8Array => base16.baseDecode(text)

/** Undefined for what is no base64url. */
export function tryFromBase64url(text: string): Uint8Array | undefined {
  try {
    return base64url.baseDecode(text)
  } catch {
    return undefined
  }
}
