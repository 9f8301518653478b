/**
 * A stranger that serves the public DHT's protocol, for a network namespace: `LISTEN_ADDRESS [BOOTSTRAP_ADDRESS]`.
 * Prints its address; ends with its standard input.
 */
import { once } from 'node:events'
import { identify } from '@libp2p/identify'
import { kadDHT } from '@libp2p/kad-dht'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'

const [, , listen = '', bootstrap] = process.argv
const host = await createLibp2p({
  // nobody confirms it here
  addresses: { listen: [listen], announce: [listen] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  connectionGater: { denyDialMultiaddr: () => false },
  services: {
    identify: identify(),
    ping: ping(),
    dht: kadDHT({ protocol: '/ipfs/kad/1.0.0', clientMode: false, allowQueryWithZeroPeers: true }),
  },
})
if (bootstrap !== undefined) await host.dial(multiaddr(bootstrap))
process.stdout.write(`${listen}/p2p/${host.peerId}\n`)
await once(process.stdin.resume(), 'end')
await host.stop()
process.exit(0)
