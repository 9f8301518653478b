/** `npm start`: joins this checkout's own private network and serves its API and page. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { join, relative, sep } from 'node:path'
import { createInterface } from 'node:readline'

const FIRST_PORT = 8080
const LAST_PORT = 8099
/** Names of the settings that say which network to join. */
const NETWORK = ['token', 'token-file', 'config']

/** What a switch takes for off. */
const OFF = ['false', '0', 'off', 'no']

/** How often it is looked whether the process that began this one is there still, in ms. */
const PARENT_LOOK_MS = 1_000
const parent = process.ppid

/** Resolves when the node has ended; sets the exit code. Further words go to `mesh api`. */
export async function start({ root, args }) {
  const node = join(root, 'node_modules/.bin/node')
  const main = join(root, 'apps/node/dist/main.js')
  const network = NETWORK.some((name) => isGiven(name, args))
    ? []
    : ['--token-file', makeToken({ root, node, main })]
  const listen = isGiven('listen', args) ? [] : ['--listen', `127.0.0.1:${await findPort()}`]
  const privacy = isGiven('private', args) ? [] : ['--private']
  // who does not look about on the local network is not found there either: others have to know an address
  const isUnseen = isOff('mdns', args)
  // its lines come through this process, so that it does not see the terminal
  const forPeople = process.stdout.isTTY && !isGiven('log-format', args) ? ['--log-format', 'human'] : []
  const child = spawn(node, [main, 'api', ...network, ...listen, ...privacy, ...forPeople, ...args], {
    stdio: ['inherit', 'pipe', isUnseen ? 'pipe' : 'inherit'],
    env: { ...process.env, MESH_CHECKOUT: root, MESH_COMMAND: fromHere(join(root, 'mesh')) },
  })
  // a program that reads the node's lines gets nothing else between them
  const tell = process.stdout.isTTY ? console.log : console.error
  const url = eachLine(child.stdout, console.log, (line) => line.includes('http://'))
  const told = isUnseen ? eachLine(child.stderr, console.error, (line) => addressesIn(line).length > 0) : ''
  void Promise.all([url, told]).then(([, line]) =>
    tell(joinHelp({ root, network, addresses: addressesIn(line) })),
  )
  // a terminal sends Ctrl-C to the node as well; other signals come to this process alone
  process.on('SIGINT', () => {})
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm runs this in a shell that hands no signal on: when npm is ended so is the shell, and nobody tells this process
  const orphaned = setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), PARENT_LOOK_MS)
  process.exitCode = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`cannot start the node: ${error.message}`)
      resolve(1)
    })
    child.once('exit', (code, signal) => resolve(signal === null ? code : 1))
  })
  clearInterval(orphaned)
}

/** Hands on what a process says; resolves with the first line that is looked for. */
function eachLine(stream, print, isLookedFor) {
  return new Promise((resolve) => {
    createInterface({ input: stream }).on('line', (line) => {
      print(line)
      if (isLookedFor(line)) resolve(line)
    })
  })
}

const addressesIn = (line) => line.match(/\/ip4\/[\d.]+\/tcp\/\d+\/p2p\/\w+/g) ?? []

/** Did the person set this option, by a flag or the environment? */
function isGiven(name, args) {
  return args.some(isFlagOf(name)) || Boolean(process.env[variableOf(name)])
}

/** Did the person switch this option off? The last flag counts, and any flag before the environment. */
function isOff(name, args) {
  const flag = args.findLast(isFlagOf(name))
  const given = flag === undefined ? process.env[variableOf(name)] : (flag.split('=')[1] ?? 'true')
  return flag === `--no-${name}` || OFF.includes(given?.toLowerCase())
}

const isFlagOf = (name) => (word) =>
  word === `--${name}` || word.startsWith(`--${name}=`) || word === `--no-${name}`
const variableOf = (name) => `MESH${name.replaceAll('-', '').toUpperCase()}`

/** Made once, for this checkout; anyone who has it can join. */
function makeToken({ root, node, main }) {
  const folder = join(root, '.mesh')
  const file = join(folder, 'token')
  if (existsSync(file)) return file
  const { status, stdout, error } = spawnSync(node, [main, '-g', '-b'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined) console.error(`cannot run the workspace's Node: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.new`, stdout, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  console.log('Made a private network; its token is in .mesh/token: anyone who has that file can join.')
  return file
}

async function findPort() {
  for (let port = FIRST_PORT; port <= LAST_PORT; port++) {
    if (!(await isFree(port))) continue
    if (port !== FIRST_PORT) console.log(`Port ${FIRST_PORT} is taken; using ${port}.`)
    return port
  }
  console.log(`Ports ${FIRST_PORT} to ${LAST_PORT} are taken; using any free one.`)
  return 0
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** Commands that work as they stand: the token itself is never printed, since terminals and their logs keep what they show. */
function joinHelp({ root, network, addresses }) {
  const mesh = fromHere(join(root, 'mesh'))
  const [, file] = network
  const lines = ['']
  if (file !== undefined) {
    lines.push(
      'Join from another machine of this local network, in a checkout like this one:',
      `    scp ${accountName()}@${hostname()}:${file} mesh.token    # anyone who has this file can join`,
      `    npm start -- --token-file mesh.token${dialing(addresses.find((address) => !isLoopback(address)))}`,
    )
  }
  const same = file === undefined ? '' : ` --token-file ${fromHere(file)}`
  lines.push(
    'Join from this machine, in another terminal:',
    `    ${mesh} api${same} --private --instance second --listen 127.0.0.1:0${dialing(addresses.find(isLoopback))}`,
    'See what it sees:',
    `    ${mesh} status`,
    'Ctrl-C stops this one.',
    '',
  )
  return lines.join('\n')
}

const isLoopback = (address) => address.startsWith('/ip4/127.')
const dialing = (address) => (address === undefined ? '' : ` --discovery-bootstrap-peers ${address}`)

/** A path as the person types it: npm runs scripts in the package's folder and leaves the person's in INIT_CWD. */
function fromHere(path) {
  const near = relative(process.env.INIT_CWD ?? process.cwd(), path)
  return near.startsWith('..') ? near : `.${sep}${near}`
}

/** Accounts without a name exist in containers. */
function accountName() {
  try {
    return userInfo().username
  } catch {
    return 'USER'
  }
}
