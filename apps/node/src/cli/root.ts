/** `mesh` alone: makes a network with -g; the VPN itself is not part of this version. */
import { MeshError, systemRandom } from '@mesh/core'
import { encodeToken, formatNetworkConfig, generateNetworkConfig } from '@mesh/p2p'
import type { Run } from './command.ts'

export const runRoot: Run = async ({ settings, isTerminal, out }) => {
  if (!settings.generate) {
    throw new MeshError(
      'node.no_interface',
      '`mesh` alone will run the VPN, which this version does not have yet',
      {
        hint: [
          'To join a network and share its ledger now:',
          '    mesh api      with the HTTP API and its web page',
          '    mesh start    without',
          '  `mesh --help` shows every command.',
        ].join('\n'),
      },
    )
  }
  const config = generateNetworkConfig({ intervalS: settings.keyOtpInterval }, systemRandom)
  // a token's end must not be lost in a file, but a prompt should not follow it on the same line
  if (settings.base64) out(encodeToken(config) + (isTerminal ? '\n' : ''))
  else out(formatNetworkConfig(config))
  return 0
}
