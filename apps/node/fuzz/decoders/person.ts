/** What people and programs of this machine give: tokens, configuration, settings, and DNS, which strangers send too. */
import { systemRandom, tryParseDuration } from '@mesh/core'
import {
  encodeToken,
  formatNetworkConfig,
  generateNetworkConfig,
  parseNetworkConfig,
  parseToken,
} from '@mesh/network'
import { parseListenAddress } from '@mesh/api-server'
import { readQuery } from '../../../../packages/dns/src/messages/read-query.ts'
import { readReply } from '../../../../packages/dns/src/messages/read-reply.ts'
import { encodeQuery } from '../../../../packages/dns/test/names-world.ts'
import { refuseLogLevels } from '../../src/log/log-level.ts'
import { parseForwardPlace, parseZone } from '../../src/settings/dns-values.ts'
import { readDefaults } from '../../src/settings/given.ts'
import { parseOffer, parseRange } from '../../src/settings/service-values.ts'
import { parseRoute, parseStaticPeer, parseVpnAddress } from '../../src/settings/vpn-values.ts'
import { type Decoder, textOf, textSeeds } from '../decoder.ts'

const config = generateNetworkConfig({ intervalS: 360 }, systemRandom)
const token = encodeToken(config)
const question = encodeQuery('host.mesh', 'A')
const reply = Buffer.concat([question, Buffer.from('c00c000100010000003c00040a010005', 'hex')])
reply.set([0x81, 0x80], 2)
reply.set([0, 1], 6)
const expected = { id: 7, question: question.subarray(12) }

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
        parseRoute,
        parseStaticPeer,
        parseRange,
        parseOffer,
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
