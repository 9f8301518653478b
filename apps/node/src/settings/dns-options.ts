/** Options of DNS: a server beside the node, or `mesh dns`, which also registers records. */
import { NODE } from './command-groups.ts'
import { parseDnsPlace, parseForwardPlace, parseZone } from './dns-values.ts'
import { inGroup, integer, list, text, toggle } from './option.ts'
import { refusalOf } from './vpn-values.ts'

const record = (placeholder: string, help: string) =>
  text({
    commands: ['dns'],
    environment: false,
    placeholder,
    help: `${help}, for the --regex before it.`,
  })

export const dnsOptions = inGroup('DNS', NODE, {
  dns: list({
    commands: [...NODE, 'doctor'],
    placeholder: 'ADDRESS',
    help: 'Answer DNS there, on UDP and TCP: 127.0.0.1:5353, :53, [::1]:53. `mesh dns` answers at 127.0.0.1:53 unless told otherwise.',
    check: refusalOf(parseDnsPlace),
  }),
  dnsZone: text({
    placeholder: 'NAME',
    default: 'mesh',
    help: 'The zone in which machines and services have their names, as in laptop.mesh.',
    check: refusalOf(parseZone),
  }),
  dnsForwarder: toggle({
    default: true,
    help: 'Ask other servers for names that are not of this network; without it they are refused.',
  }),
  dnsForwardServer: list({
    placeholder: 'SERVER',
    defaultText: 'those of /etc/resolv.conf, as it changes',
    help: 'A server to ask, in the order given: 9.9.9.9, 9.9.9.9:53, or example.com=10.0.0.1 for the names of one domain.',
    check: refusalOf(parseForwardPlace),
  }),
  dnsCacheSize: integer({
    isLimit: true,
    placeholder: 'COUNT',
    default: 1_000,
    min: 0,
    max: 1_000_000,
    help: 'Answers of other servers that are kept; 0 keeps none.',
  }),
  dnsConfigure: toggle({
    default: false,
    help: 'Have this machine resolve names through --dns: by systemd-resolved for the zone alone, else in /etc/resolv.conf before its servers, and again when another program rewrites that; undone at the end, or at the next start after a crash.',
  }),
  regex: text({
    commands: ['dns'],
    environment: false,
    placeholder: 'PATTERN',
    help: 'Register records for names that this RE2 expression matches, while the command runs: ^foo\\.mesh\\.$ for one name. The records follow it; repeat it, with theirs, for more patterns.',
  }),
  a: record('ADDRESS', 'The IPv4 address'),
  aaaa: record('ADDRESS', 'The IPv6 address'),
  cname: record('NAME', 'The name that it stands for'),
  txt: record('TEXT', 'A text, in quotes where it has spaces'),
  srv: record('"PRIORITY WEIGHT PORT NAME"', 'A service'),
  mx: record('"PREFERENCE NAME"', 'Who takes its mail'),
  ptr: record('NAME', 'The name of an address'),
  type: text({
    commands: ['dns resolve'],
    environment: false,
    placeholder: 'TYPE',
    default: 'A',
    help: 'The type of record to look for: A, AAAA, TXT, ...',
  }),
})
