/**
 * Holds the import table of docs/ARCHITECTURE.md against the code: which package may import which, which may
 * touch `node:` modules, and that only the node's app reads the environment. Tests and benches may use Node and the
 * testkit; what they import of other packages beyond the table stands in `TESTS_MAY_IMPORT`, and they reach other
 * packages through their public names alone.
 */
import { globSync, readFileSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** Package folder -> what it may import of ours and of the frameworks. */
const MAY_IMPORT = {
  'packages/core': ['re2js'],
  'packages/ledger': ['@mesh/core'],
  'packages/replication': ['@mesh/core', '@mesh/ledger'],
  'packages/network': ['@mesh/core'],
  'packages/port-mapping': ['@mesh/core'],
  'packages/p2p': ['@mesh/core', '@mesh/network', '@mesh/port-mapping', 'libp2p'],
  'packages/engine': ['@mesh/core'],
  'packages/vpn': ['@mesh/core', '@mesh/ledger', '@mesh/engine'],
  'packages/exit-node': ['@mesh/core', '@mesh/engine', '@mesh/vpn', 'zod'],
  'packages/services': ['@mesh/core', '@mesh/ledger'],
  'packages/dns': ['@mesh/core', '@mesh/ledger'],
  'packages/trust': ['@mesh/core', '@mesh/ledger', 'zod'],
  'packages/api-contract': ['@mesh/core', 'zod'],
  'packages/api-server': ['@mesh/core', '@mesh/ledger', '@mesh/api-contract', 'express', 'zod'],
  'packages/api-client': ['@mesh/core', '@mesh/api-contract'],
  'packages/browser': [
    '@mesh/core',
    '@mesh/ledger',
    '@mesh/network',
    '@mesh/p2p',
    '@mesh/replication',
    '@mesh/services',
    '@mesh/trust',
  ],
  'packages/testkit': ['@mesh/core', '@mesh/ledger'],
  'apps/web-ui': ['@mesh/core', '@mesh/api-client', '@mesh/api-contract', '@mesh/ledger', 'react'],
  'apps/node': ['@mesh/*'],
  tools: ['@mesh/*'],
}
/** Package folder -> what its tests and benches may import besides. */
const TESTS_MAY_IMPORT = {
  'packages/api-server': ['@mesh/api-client'],
  'packages/vpn': ['@mesh/replication'],
  'apps/web-ui': ['@mesh/api-server'],
}
/** Files of other packages that tests and tools may name. */
const TEST_EXCEPTIONS = [
  // a page that is tried needs a node, and the API's tests have one
  { from: /^apps\/web-ui\/test\/support\//, to: /^packages\/api-server\/test\// },
  { from: /^tools\/bench\//, to: /^apps\/web-ui\/test\/support\// },
  // the page of real nodes is walked through in a browser
  { from: /^apps\/node\/test\/(page-|browser-member)/, to: /^apps\/web-ui\/test\/support\// },
  // the tools start nodes as the tests of the app do
  { from: /^tools\//, to: /^apps\/node\/(src|test)\// },
  // `tools/bench` runs the benches of all packages
  { from: /^tools\/bench\//, to: /^packages\/[\w-]+\/bench\// },
  // decoders are no public names of their packages
  { from: /^tools\/fuzz\//, to: /^packages\/[\w-]+\/(src|test)\// },
]
const REASONS = {
  'packages/p2p>@mesh/ledger': 'p2p and ledger never meet: replication speaks through a port',
  'packages/ledger>@mesh/p2p': 'the ledger is embeddable alone and knows no network',
  'packages/replication>@mesh/p2p': 'replication declares a port; apps/node plugs p2p into it',
  'packages/vpn>@mesh/p2p': 'vpn declares a port; apps/node plugs p2p into it',
  'packages/services>@mesh/p2p': 'services declares a port; apps/node plugs p2p into it',
  'packages/trust>@mesh/p2p': 'trust declares a port; apps/node plugs p2p into it',
  'packages/dns>@mesh/api-contract': 'dns speaks in numbers of record types; the API names them',
  'packages/api-server>@mesh/p2p': 'api-server declares a port; apps/node plugs p2p into it',
}
/** Frameworks that the table names; other libraries are free. */
const FRAMEWORKS = {
  zod: /^zod($|\/)/,
  re2js: /^re2js$/,
  libp2p: /^(libp2p|@libp2p\/.*|@chainsafe\/libp2p-.*)$/,
  express: /^express$/,
  react: /^react(-dom)?($|\/)/,
}
/** No `node:` outside `src/node*` in these, so that a browser can load them. */
const BROWSER_SAFE = [
  'packages/core',
  'packages/ledger',
  'packages/replication',
  'packages/network',
  'packages/p2p',
  'packages/trust',
  'packages/api-contract',
  'packages/api-client',
  'packages/browser',
  'apps/web-ui',
]
/** p2p: what only Node has stands in these folders, reached through `./node` alone. */
const NODE_ONLY =
  /^(packages\/[\w-]+\/src\/(node|testing)(\.ts|\/)|packages\/network\/src\/seal\/native-seal-cipher|packages\/p2p\/src\/(nat\/(?!circuits)|bulk\/|discovery\/(multicast-sockets|local-find)|transport\/(?!browser-websockets|socket-transport|limits)|upstream\/(machine-addresses|node\/)|host\/(join-webrtc|node-platform))|packages\/trust\/src\/(legacy\/|gate\/(auth-keys|bound-answer|guard-auth|peer-guard)))/

const IS_TEST = /\.test\.tsx?$|^(packages|apps)\/[\w-]+\/(test|bench|dev)\/|^tools\//

const problems = []
let files = 0
for (const [folder, allowed] of Object.entries(MAY_IMPORT)) {
  for (const path of sourcesOf(folder)) {
    files++
    const code = readFileSync(join(root, path), 'utf8')
    if (IS_TEST.test(path)) {
      const tests = [...allowed, '@mesh/testkit', ...(TESTS_MAY_IMPORT[folder] ?? [])]
      for (const { specifier } of importsOf(code)) judgeTest(folder, tests, path, specifier)
      continue
    }
    for (const { specifier, typeOnly } of importsOf(code)) judge(folder, allowed, path, specifier, typeOnly)
    if (folder !== 'apps/node' && /\bprocess\.(env|argv|exit|on)\b/.test(withoutComments(code))) {
      problems.push(`${path}: reads the process; only apps/node reads the environment, arguments and signals`)
    }
  }
}
for (const line of problems) console.log(line)
console.log(`${files} files, ${problems.length} against the import table`)
process.exitCode = problems.length === 0 && files > 0 ? 0 : 1

function sourcesOf(folder) {
  const inside = folder === 'tools' ? '*' : '{src,test,bench,dev}'
  return globSync(`${folder}/${inside}/**/*.{ts,tsx}`, { cwd: root })
}

function judgeTest(folder, allowed, path, specifier) {
  if (specifier.startsWith('.')) judgeRelative(folder, path, specifier)
  else if (specifier.startsWith('@mesh/')) judgeOwn(folder, allowed, path, specifier)
}

/** Where a relative import leads; one that leaves its package is a problem. */
function judgeRelative(folder, path, specifier) {
  const target = relative(root, resolve(root, path, '..', specifier))
  const isExcepted = TEST_EXCEPTIONS.some(({ from, to }) => from.test(path) && to.test(target))
  if (!isExcepted && (isAbsolute(target) || !target.startsWith(`${folder}/`))) {
    problems.push(`${path}: ${specifier} leaves its package`)
  }
  return target
}

function judgeOwn(folder, allowed, path, specifier) {
  const name = specifier.split('/').slice(0, 2).join('/')
  if (allowed.includes(name) || allowed.includes('@mesh/*') || name === ownName(folder)) return
  problems.push(
    `${path}: may not import ${name}: ${REASONS[`${folder}>${name}`] ?? 'not in the import table'}`,
  )
}

/** A package's tests and benches may name it as its users do. */
function ownName(folder) {
  return folder.replace('packages/', '@mesh/')
}

function judge(folder, allowed, path, specifier, typeOnly) {
  if (specifier.startsWith('.')) {
    const target = judgeRelative(folder, path, specifier)
    if (BROWSER_SAFE.includes(folder) && NODE_ONLY.test(target) && !NODE_ONLY.test(path) && !typeOnly) {
      problems.push(`${path}: ${specifier} is for Node only; a browser loads this file`)
    }
    return
  }
  if (specifier.startsWith('node:')) {
    if (BROWSER_SAFE.includes(folder) && !NODE_ONLY.test(path) && !typeOnly)
      problems.push(`${path}: ${specifier} in a browser-safe package; move it under ./node`)
    return
  }
  const isForNode = /^@mesh\/[\w-]+\/node$/.test(specifier) && !NODE_ONLY.test(path) && !typeOnly
  if (BROWSER_SAFE.includes(folder) && isForNode)
    problems.push(`${path}: ${specifier} in a browser-safe package`)
  if (specifier.startsWith('@mesh/')) return judgeOwn(folder, allowed, path, specifier)
  for (const [framework, pattern] of Object.entries(FRAMEWORKS)) {
    if (!pattern.test(specifier) || folder === 'apps/node' || allowed.includes(framework)) continue
    problems.push(`${path}: may not import ${specifier}: ${framework} belongs elsewhere`)
  }
}

function* importsOf(code) {
  const statement =
    /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g
  for (const match of code.matchAll(statement))
    yield { specifier: match[3] ?? match[4], typeOnly: match[2] !== undefined }
}

function withoutComments(code) {
  return code.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '')
}
