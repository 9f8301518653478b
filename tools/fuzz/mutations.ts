/**
 * Mutations of real messages. Each is plain data that fast-check makes, so that a failing case is reported by its seed
 * and made smaller: which message, then what is done to it, step by step.
 */
import fc from 'fast-check'
import type { MessageForm } from './decoder.ts'
import { mutateJson } from './mutate-json.ts'
import { mutateProtobuf } from './mutate-protobuf.ts'
import { type Mutation, varint } from './mutation.ts'

/** The longest input, in bytes; longer ones are refused by length before any decoder. */
export const MAX_INPUT_BYTES = 64 * 1024

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
export const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom(
    'flip',
    'set',
    'insert',
    'delete',
    'repeat',
    'truncate',
    'splice',
    'number',
    'word',
    'structure',
    'structure',
  ),
  at: share,
  count: fc.nat({ max: 4_096 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 16 }),
})

/** Bytes that end a text, begin a structure, or mean something to some parser. */
const WORDS = [
  ['{', '}', '[', ']', '"', ',', ':', '\\', '\\u0000', '\\ud800', '__proto__', 'constructor', 'null'],
  ['1e999', '-0', '18446744073709551616', '9007199254740993', '\0', '\r\n', '%', '%00', '%zz', '..', '/'],
  ['\u202e', '\ufeff', '\ud7ff\ue000', 'true', '()', '(a*)*', '^', '&a', '*a', '!!js', '---', '\t'],
]
  .flat()
  .map((word) => Buffer.from(word))
const NUMBERS = [
  0n,
  1n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0x8000n,
  0xffffn,
  0x7fff_ffffn,
  0xffff_ffffn,
  2n ** 63n,
]

/** Applies the steps in their order. */
export function mutated(
  seed: Uint8Array,
  steps: readonly Mutation[],
  { form, others }: { readonly form: MessageForm; readonly others: readonly Uint8Array[] },
): Uint8Array {
  let bytes = seed
  for (const step of steps) bytes = mutate(bytes, step, form, others).subarray(0, MAX_INPUT_BYTES)
  return bytes
}

function mutate(
  bytes: Uint8Array,
  step: Mutation,
  form: MessageForm,
  others: readonly Uint8Array[],
): Uint8Array {
  const at = Math.floor(step.at * (bytes.length + 1))
  const end = Math.min(bytes.length, at + (step.count % 64))
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)]
  const first = step.bytes[0] ?? 0
  switch (step.kind) {
    case 'flip':
      return replaced(bytes, at, [(bytes[at] ?? 0) ^ (1 << (first % 8))])
    case 'set':
      return replaced(bytes, at, step.bytes)
    case 'insert':
      return Buffer.concat([head, step.bytes, tail])
    case 'delete':
      return Buffer.concat([head, bytes.subarray(end)])
    case 'repeat':
      return Buffer.concat([
        head,
        ...Array<Uint8Array>(step.count).fill(bytes.subarray(at, at + 1 + (first % 8))),
        tail,
      ])
    case 'truncate':
      return head
    case 'splice': {
      const other = others[first % Math.max(1, others.length)] ?? bytes
      return Buffer.concat([head, other.subarray(Math.floor(step.at * other.length))])
    }
    case 'number':
      return replaced(bytes, at, numberBytes(NUMBERS[first % NUMBERS.length] ?? 0n, step.count))
    case 'word':
      return Buffer.concat([head, WORDS[step.count % WORDS.length] ?? head, tail])
    case 'structure':
      if (form === 'protobuf') return mutateProtobuf(bytes, step)
      return form === 'json' ? mutateJson(bytes, step) : Buffer.concat([tail, head])
  }
}

function replaced(bytes: Uint8Array, at: number, by: ArrayLike<number>): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy.set(Array.from(by).slice(0, Math.max(0, copy.length - at)), Math.min(at, copy.length))
  return copy
}

/** A number in one of the ways in which messages hold one: 2, 4 or 8 bytes in either order, or a varint. */
function numberBytes(value: bigint, way: number): Uint8Array {
  const length = [2, 4, 8][way % 3] ?? 8
  const bytes = Buffer.from(value.toString(16).padStart(16, '0'), 'hex').subarray(8 - length)
  if (way % 4 === 3) return varint(value)
  return way % 2 === 0 ? bytes : Uint8Array.from(bytes).reverse()
}
