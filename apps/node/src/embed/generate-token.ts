import { systemRandom } from '@mesh/core'
import { encodeToken, generateNetworkConfig } from '@mesh/network'

/** Makes a new network, and gives its token. It is the network's secret: everybody who has it can join. */
export function generateToken(): string {
  return encodeToken(generateNetworkConfig({}, systemRandom))
}
