/** docs/edgevpn.md: how to move from EdgeVPN, and what each of its flags is here. */
import { type EdgevpnFlag, edgevpnFlags, type Here } from '../settings/edgevpn/flags.ts'

const STEPS = `mesh takes the tokens, the flags, the environment and the API calls of EdgeVPN. Machines of both kinds work in one network, so you can move one machine after the other.

## Move one machine

1. Install mesh (see the [README](../README.md)), and make a link that has the name of EdgeVPN. In a checkout:

   \`\`\`sh
   npm run setup
   mkdir -p ~/.local/bin
   ln -sf "$PWD/mesh" ~/.local/bin/edgevpn
   \`\`\`

   For services of the system make the link in \`/usr/local/bin\`. The link must come first in \`PATH\`: \`command -v edgevpn\` prints it. Without a link, \`mesh --edgevpn\` does the same.

2. Look at what your command line and environment become here. Nothing is started:

   \`\`\`sh
   edgevpn config --address 10.1.0.11/24 --lease-dir /var/lib/edgevpn
   \`\`\`

3. Stop EdgeVPN on this machine, and start the link with the same flags and the same environment. Units of systemd and files of Kairos stay as they are.

4. See how it goes. Problems come first, each with what to do:

   \`\`\`sh
   edgevpn status
   edgevpn doctor
   \`\`\`

5. Do the same on the next machine.

## Networks that sign nothing

EdgeVPN before 0.35, and 0.35 with \`EDGEVPNOWNERSHIP=off\`, sign no entries. In such a network each node of ours needs \`--ownership off\` (\`EDGEVPNOWNERSHIP=off\`). \`edgevpn status\` says when the members of a network sign nothing, and which mode this node is in. With \`off\` the ledger is kept in memory only.

To gain signatures, start all members with \`enforce\` at the same time: machines of both modes do not read each other's entries.

## What differs

- The identity of a machine is kept by default. EdgeVPN's private key file is not read: the machine has a new peer id after the move, and its lease moves with it.
- \`edgevpn\` and \`edgevpn api\` on one machine are two members, as with EdgeVPN. \`--instance\` tells further ones apart.
- The interface has an IPv6 address from an MTU of 1280. EdgeVPN's default is 1200: give \`--mtu 1280\` on all machines for IPv6.
- Unix sockets of the API have mode 0660, or what \`APILISTENUNIXMODE\` says.
- \`edgevpn api\` listens where \`APILISTEN\` says. EdgeVPN itself reads that variable for the main command only.

## Go back

Remove the link and start EdgeVPN again. The token and the network are the same.

## Every flag

A flag beats its variable. An empty value means the default. Switches are \`--flag\`, \`--flag=false\` or \`-flag\`, as Go reads them. What has no effect is named once in the log, at level debug.`

type BuildTable = (head: readonly string[], rows: readonly (readonly string[])[]) => string

/** @param made the line that says how the document is made */
export function edgevpnDocument(made: string, buildTable: BuildTable): string {
  const rows = edgevpnFlags.map((row) => [
    placesOf(row),
    `\`--${row.flag}\``,
    row.variable === undefined ? '' : `\`${row.variable}\``,
    wordsOf(row.here),
  ])
  return `# Move from EdgeVPN\n\n${made}\n\n${STEPS}\n\n${buildTable(['Command', 'Flag', 'Variable', 'Here'], rows)}\n`
}

function placesOf({ places }: EdgevpnFlag): string {
  return places === 'common' ? 'all' : places.join(', ')
}

function wordsOf(here: Here): string {
  switch (here.is) {
    case 'same':
      return here.note === undefined ? 'the same' : `the same; ${here.note}`
    case 'carried':
      return here.note
    case 'nothing':
      return `no effect: ${here.why}`
  }
}
