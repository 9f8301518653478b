/** A page that is a member of a mesh network: it joins, shows who is there, reads and writes, and fetches a service. */
import { joinMesh, type Mesh, MeshError } from '@mesh/browser'
import { keptIdentity } from './kept-identity.ts'
import { nodesHere } from './nodes-here.ts'
import { show, showAnswer, showEntries, showMembers, showProblem } from './show.ts'

const input = (id: string) => document.querySelector<HTMLInputElement>(`#${id}`) as HTMLInputElement
let mesh: Mesh | undefined

/** Runs when a person presses the button of a form; what goes wrong is shown. */
function onSubmit(id: string, run: () => Promise<void>): void {
  const form = document.querySelector<HTMLFormElement>(`#${id}`)
  form?.addEventListener('submit', (event) => {
    event.preventDefault()
    const button = form.querySelector('button')
    button?.toggleAttribute('disabled', true)
    showProblem('')
    run()
      .catch((error: unknown) => showProblem(describe(error)))
      .finally(() => button?.toggleAttribute('disabled', false))
  })
}

function describe(error: unknown): string {
  const hint = error instanceof MeshError && error.hint !== undefined ? ` ${error.hint}` : ''
  return `${error instanceof Error ? error.message : String(error)}${hint}`
}

onSubmit('join', async () => {
  const [token, invite] = [input('token').value, input('invite').value.trim()]
  const joined = await joinMesh({
    token,
    nodes: input('node').value.trim().split(/\s+/),
    name: input('name').value.trim() || undefined,
    ...(invite !== '' && { invite }),
    ...(input('keep').checked && { identity: keptIdentity() }),
  })
  mesh = joined
  // the secrets stay in the member alone
  for (const id of ['token', 'invite']) input(id).value = ''
  const update = () => show(joined)
  joined.onChange(update)
  update()
  void followBucket(joined)
  input('bucket').addEventListener('change', () => void followBucket(joined))
})

/** Shows a bucket until another one is chosen. */
async function followBucket(member: Mesh): Promise<void> {
  const bucket = input('bucket').value
  const changes = member.watch(bucket)
  do showEntries(member.ledger.list(bucket))
  while ((await changes.next()).done !== true && input('bucket').value === bucket)
  await changes.return?.()
}

onSubmit('write', async () => {
  await mesh?.ledger.put(input('bucket').value, input('key').value, valueOf(input('value').value))
})

/** JSON where it is JSON, else text. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

onSubmit('fetch', async () => {
  showAnswer('')
  const answer = await mesh?.fetch(input('address').value)
  if (answer !== undefined) showAnswer(`${answer.status} ${answer.statusText}\n\n${await answer.text()}`)
})

document.querySelector('#leave')?.addEventListener('click', () => {
  void mesh?.close().finally(() => location.reload())
})

/** A link may bring what the form asks for, behind `#`: browsers send that to nobody. */
function takeFragment(): void {
  const given = new URLSearchParams(location.hash.slice(1))
  for (const id of ['token', 'invite', 'node', 'name']) input(id).value = given.get(id) ?? input(id).value
  // neither in the history nor in a bookmark
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
}

takeFragment()
if (input('node').value === '') input('node').value = (await nodesHere()).join(' ')
showMembers([])
