/** Makes a new network. */
import type { Random } from '@mesh/core'
import { DEFAULT_MAX_MESSAGE_BYTES, DEFAULT_OTP_INTERVAL_S, GENERATED_TEXT_LENGTH } from '../limits.ts'
import type { NetworkConfig } from './network-config.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890'
const LARGEST_FAIR_BYTE = 256 - (256 % ALPHABET.length)

/** Draws the secrets of a new network from `random`, every character equally likely; `intervalS` is the whole seconds that one key lasts. */
export function generateNetworkConfig(
  options: { readonly intervalS?: number | bigint },
  random: Random,
): NetworkConfig {
  const { intervalS = DEFAULT_OTP_INTERVAL_S } = options
  const otp = () => ({
    key: generateText(random),
    intervalS: BigInt(intervalS),
    length: GENERATED_TEXT_LENGTH,
  })
  return {
    dht: otp(),
    crypto: otp(),
    room: generateText(random),
    rendezvous: generateText(random),
    mdns: generateText(random),
    maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
  }
}

function generateText(random: Random): string {
  let text = ''
  while (text.length < GENERATED_TEXT_LENGTH) {
    for (const byte of random.bytes(GENERATED_TEXT_LENGTH)) {
      if (byte < LARGEST_FAIR_BYTE && text.length < GENERATED_TEXT_LENGTH) {
        text += ALPHABET[byte % ALPHABET.length]
      }
    }
  }
  // text that YAML would take for a number or a date is drawn again, so that it needs no quotes
  return /^[a-zA-Z]/.test(text) ? text : generateText(random)
}
