/** `mesh` alone: the VPN, or a new network with -g. */
import { systemRandom } from '@mesh/core'
import type { Call, Run } from '../command.ts'

export const runRoot: Run = async (call) => {
  if (call.settings.generate) return generate(call)
  const { runVpn } = await import('./run-node.ts')
  return runVpn(call)
}

async function generate({ settings, out }: Call): Promise<number> {
  const { encodeToken, formatNetworkConfig, generateNetworkConfig } = await import('@mesh/network')
  const config = generateNetworkConfig({ intervalS: settings.keyOtpInterval }, systemRandom)
  if (settings.base64) out(`${encodeToken(config)}\n`)
  else out(formatNetworkConfig(config))
  return 0
}
