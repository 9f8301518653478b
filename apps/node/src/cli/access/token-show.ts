/** `mesh token show`: the token of a network, because a person asked for it; nothing else of `mesh` prints one. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MeshError } from '@mesh/core'
import { encodeToken } from '@mesh/network'
import type { Settings } from '../../settings/options.ts'
import { printableJson } from '../../words/printable.ts'
import { describeExposedNetwork, readNetwork } from '../../state/network.ts'
import { checkoutOf } from '../called-as.ts'
import type { Run } from '../command.ts'

/** Where `npm start` keeps the token of the network that it made, in the checkout. */
const OWN_TOKEN_FILE = '.mesh/token'

export const runTokenShow: Run = async ({ command, settings: given, surroundings, out, note }) => {
  const settings = withOwnNetwork(given, checkoutOf(surroundings.environment))
  const network = readNetwork(settings)
  if (network === undefined) {
    throw new MeshError('node.no_network', `\`mesh ${command.name}\` needs to know which network is meant`, {
      hint: 'Name it as for the node that runs: --token-file FILE, --config FILE, MESHTOKEN or MESHCONFIG.',
    })
  }
  const exposed = describeExposedNetwork(settings)
  if (exposed !== undefined) note(`mesh: ${exposed}`)
  const token = encodeToken(network.config)
  out(settings.json ? printableJson({ Network: network.id, Token: token }, 2) : `${token}\n`)
  return 0
}

/** The settings, or where they name no network, the one of `npm start`. */
function withOwnNetwork(settings: Settings, checkout: string | undefined): Settings {
  const isNamed = [settings.token, settings.tokenFile, settings.config].some((each) => each !== undefined)
  if (isNamed || checkout === undefined) return settings
  const tokenFile = join(checkout, OWN_TOKEN_FILE)
  return existsSync(tokenFile) ? { ...settings, tokenFile } : settings
}
