/**
 * What people and programs of this machine give: tokens, configuration, settings, the node's own files of its state folder,
 * and DNS, which strangers send too.
 */
import {
  parseCidr,
  parseDuration,
  parseIp,
  parsePeerId,
  silentLogger,
  systemClock,
  systemRandom,
  tryParseAddressInRange,
  tryParseDuration,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import {
  encodeToken,
  formatNetworkConfig,
  generateNetworkConfig,
  parseNetworkConfig,
  parseToken,
} from '@mesh/network'
import { parseListenAddress } from '@mesh/api-server'
import { formatPolicy, readPolicy } from '@mesh/trust/policy-text'
import type { Snapshot } from '@mesh/ledger'
import { parseRetryAfter } from '../../../packages/api-client/src/retry-after.ts'
import { tryParseDnsType } from '../../../packages/api-contract/src/dns-types.ts'
import { parseTokenList } from '../../../packages/api-server/src/auth/token-list.ts'
import { readQuery } from '../../../packages/dns/src/messages/read-query.ts'
import { readReply } from '../../../packages/dns/src/messages/read-reply.ts'
import { parseName } from '../../../packages/dns/src/names.ts'
import { encodeQuery } from '../../../packages/dns/test/names-world.ts'
import { parseIdentity } from '../../../packages/p2p/src/host/identity.ts'
import { encodeGuestFile, parseGuestFile } from '../../../packages/vpn/src/guests/guest-file.ts'
import { PastAddresses } from '../../../packages/vpn/src/addresses/past-addresses.ts'
import { exitJournal } from '../../../packages/exit-node/src/kernel/exit-journal.ts'
import { keptChoice } from '../../../apps/node/src/compose/kept-exit.ts'
import { kernelJournal } from '../../../packages/exit-node/src/kernel/local-filter.ts'
import { refuseLogLevels } from '../../../apps/node/src/log/log-level.ts'
import { parseDnsPlace, parseForwardPlace, parseZone } from '../../../apps/node/src/settings/dns-values.ts'
import { savedResolver } from '../../../apps/node/src/resolver/restore-resolver.ts'
import { readDefaults } from '../../../apps/node/src/settings/given.ts'
import {
  parseEgressPeer,
  parseFile,
  parseListen,
  parseOffer,
  parseProxyAddress,
  parseRange,
} from '../../../apps/node/src/settings/service-values.ts'
import {
  parseOfferedRoute,
  parseRoute,
  parseStaticPeer,
  parseVpnAddress,
  parseVpnHost,
} from '../../../apps/node/src/settings/vpn-values.ts'
import { offersFile } from '../../../apps/node/src/state/kept-offers.ts'
import { parseState } from '../../../apps/node/src/state/state-file.ts'
import { type Decoder, textOf, textSeeds } from '../decoder.ts'
import { applyPolicy, POLICY } from './policy.ts'

const config = generateNetworkConfig({ intervalS: 360 }, systemRandom)
const token = encodeToken(config)
const question = encodeQuery('host.mesh', 'A')
const reply = Buffer.concat([question, Buffer.from('c00c000100010000003c00040a010005', 'hex')])
reply.set([0x81, 0x80], 2)
reply.set([0, 1], 6)
const expected = { id: 7, question: question.subarray(12) }

const KEY = Buffer.alloc(32, 7).toString('base64')
const GUEST = {
  name: 'phone',
  address: parseIp('10.1.0.9'),
  publicKey: KEY,
  presharedKey: KEY,
  addedAt: 1_790_000_000_000,
}

const EMPTY_LEDGER = {
  self: parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'),
  snapshot: () => ({ entries: () => [] }) as Partial<Snapshot> as Snapshot,
  subscribe: () => () => {},
}

export const PERSON_DECODERS: readonly Decoder[] = [
  {
    name: 'token',
    form: 'text',
    seeds: textSeeds(token),
    mayRefuse: true,
    decode: (bytes) => parseToken(textOf(bytes)),
  },
  {
    name: 'token-content',
    form: 'text',
    seeds: textSeeds(formatNetworkConfig(config)),
    mayRefuse: true,
    decode: (bytes) => parseToken(Buffer.from(bytes).toString('base64')),
  },
  {
    name: 'configuration',
    form: 'text',
    seeds: textSeeds(formatNetworkConfig(config)),
    mayRefuse: true,
    decode: (bytes) => parseNetworkConfig(textOf(bytes)),
  },
  {
    name: 'policy',
    form: 'text',
    seeds: textSeeds(formatPolicy(POLICY, 'a comment'), JSON.stringify(POLICY)),
    mayRefuse: true,
    decode: (bytes) => applyPolicy(readPolicy(textOf(bytes))),
  },
  {
    name: 'defaults',
    form: 'text',
    seeds: textSeeds('private\nlisten = 127.0.0.1:8080\n# comment\nledger-max-bytes = 64MiB\n'),
    mayRefuse: true,
    decode: (bytes) => readDefaults('defaults', textOf(bytes)),
  },
  {
    name: 'listen-address',
    form: 'text',
    seeds: textSeeds('127.0.0.1:8080', ':80', '[::1]:1', 'unix:///run/mesh.sock'),
    mayRefuse: true,
    decode: (bytes) => parseListenAddress(textOf(bytes)),
  },
  {
    name: 'settings',
    form: 'text',
    seeds: textSeeds(
      '10.1.0.11/24',
      'fd00::/64',
      'web=127.0.0.1:80',
      '10.1.0.2=aa:bb',
      '5m',
      'info,p2p=debug',
      'mesh.',
    ),
    mayRefuse: true,
    decode(bytes) {
      const text = textOf(bytes)
      for (const parse of [
        parseVpnAddress,
        parseVpnHost,
        parseRoute,
        parseOfferedRoute,
        parseStaticPeer,
        parseRange,
        parseOffer,
        parseListen,
        parseFile,
        parseProxyAddress,
        parseEgressPeer,
        parseDnsPlace,
        parseForwardPlace,
      ]) {
        parse(text)
      }
      parseZone(text)
      refuseLogLevels(text)
      tryParseDuration(text)
    },
  },
  {
    name: 'words',
    form: 'text',
    seeds: textSeeds(
      '10.1.0.11/24',
      'fd00::1%eth0',
      '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
      'TYPE65280',
      'a\\.b.mesh.',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      '120',
      '1h30m',
    ),
    decode(bytes) {
      const text = textOf(bytes)
      tryParseIp(text)
      tryParseAddressInRange(text)
      tryParsePeerId(text)
      tryParseDnsType(text)
      parseName(text)
      parseRetryAfter(text, 1_790_000_000_000)
    },
  },
  {
    name: 'ranges',
    form: 'text',
    seeds: textSeeds('10.1.0.0/24', 'fd00::/64'),
    mayRefuse: true,
    decode: (bytes) => parseCidr(textOf(bytes)),
  },
  {
    name: 'durations',
    form: 'text',
    seeds: textSeeds('1h30m', '500ms'),
    mayRefuse: true,
    decode: (bytes) => parseDuration(textOf(bytes)),
  },
  {
    name: 'api-token-file',
    form: 'text',
    seeds: textSeeds(`# tokens\nread abcdefghijklmnop grafana\nadmin sha256:${'0a'.repeat(32)} laptop\n`),
    decode: (bytes) => parseTokenList(textOf(bytes)),
  },
  {
    name: 'guest-file',
    form: 'json',
    seeds: textSeeds(encodeGuestFile({ privateKey: KEY, port: 51_820, guests: [GUEST] })),
    mayRefuse: true,
    decode: (bytes) => parseGuestFile(textOf(bytes)),
  },
  {
    name: 'state-files',
    form: 'json',
    seeds: textSeeds(
      '{"pid":7,"mark":5099}',
      '{"pid":7,"table":"mesh_exit_mesh0"}',
      '{"pid":7,"interface":"mesh0"}',
      '{"pid":7,"written":"a","link":"b","text":"c"}',
      '{"given":null,"wanted":"gate"}',
      '{"services":{"web":"127.0.0.1:80"},"connections":{},"files":{"photos":"/srv/photos"}}',
    ),
    decode(bytes) {
      for (const schema of [exitJournal, kernelJournal, savedResolver, keptChoice, offersFile]) {
        parseState<object>(textOf(bytes), schema)
      }
    },
  },
  {
    name: 'past-addresses',
    form: 'json',
    seeds: textSeeds(
      '{"10.1.0.9":{"peer":"12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB","at":1790000000000,"since":1}}',
    ),
    decode(bytes) {
      const store = { read: () => textOf(bytes), write() {} }
      const memory = new PastAddresses({
        range: parseCidr('0.0.0.0/0'),
        ledger: EMPTY_LEDGER,
        store,
        clock: systemClock,
        log: silentLogger,
      })
      memory.ofOthers()
      memory.lasting()
      memory.stop()
    },
  },
  {
    name: 'identity',
    form: 'bytes',
    seeds: [new Uint8Array(32).fill(7), new Uint8Array(64).fill(7)],
    mayRefuse: true,
    decode: parseIdentity,
  },
  {
    name: 'dns-query',
    form: 'bytes',
    seeds: [question, encodeQuery('a.b.c.mesh', 'AAAA', { opt: { size: 1_232 } })],
    decode: (bytes) => readQuery(Buffer.from(bytes)),
  },
  {
    name: 'dns-reply',
    form: 'bytes',
    seeds: [reply],
    decode(bytes) {
      readReply(Buffer.from(bytes), expected, false)
      readReply(Buffer.from(bytes), expected, true)
    },
  },
]
