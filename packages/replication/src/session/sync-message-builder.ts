/** Collects one message up to its bounds. */
import type { KeyedEntry, Position } from '@mesh/ledger'
import { MAX_LISTS_IN_MESSAGE, MAX_RANGES_IN_MESSAGE, MAX_MESSAGE_ITEMS, MESSAGE_BYTES } from '../limits.ts'
import type { Hello, ListItem, RangeClaim, RangeList, Refusal, SyncMessage } from './sync-message.ts'

/** Tags and lengths of one part, rounded up. */
const PART_BYTES = 12
const RANGE_BYTES = PART_BYTES + 40
const ITEM_BYTES = PART_BYTES + 40
const ENTRY_BYTES = PART_BYTES + 100

export class SyncMessageBuilder {
  readonly #ranges: RangeClaim[] = []
  readonly #lists: RangeList[] = []
  readonly #wants: Position[] = []
  readonly #entries: KeyedEntry[] = []
  readonly #refused: Refusal[] = []
  #bytes = 0

  /** No further range, list or entry belongs in this message. */
  get full(): boolean {
    return (
      this.#bytes >= MESSAGE_BYTES ||
      this.#ranges.length >= MAX_RANGES_IN_MESSAGE ||
      this.#lists.length >= MAX_LISTS_IN_MESSAGE ||
      this.#wants.length + this.#entries.length + this.#refused.length >= MAX_MESSAGE_ITEMS / 2
    )
  }

  /** Nothing in it that asks for an answer. */
  get idle(): boolean {
    return this.#ranges.length + this.#lists.length + this.#wants.length + this.#entries.length === 0
  }

  addRange(range: RangeClaim): void {
    this.#ranges.push(range)
    this.#bytes += RANGE_BYTES + positionBytes(range.from) + positionBytes(range.to)
  }

  addList(list: RangeList): void {
    this.#lists.push(list)
    this.#bytes += RANGE_BYTES + positionBytes(list.from) + positionBytes(list.to)
    for (const item of list.items) this.#bytes += ITEM_BYTES + positionBytes(item)
  }

  addWant({ bucket, key }: Position): void {
    this.#wants.push({ bucket, key })
    this.#bytes += PART_BYTES + positionBytes({ bucket, key })
  }

  addEntry(keyed: KeyedEntry): void {
    this.#entries.push(keyed)
    const { value, owner } = keyed.entry
    this.#bytes += ENTRY_BYTES + positionBytes(keyed) + utf8Length(value) + utf8Length(owner)
  }

  addRefusal(refusal: Refusal): void {
    this.#refused.push(refusal)
    this.#bytes += PART_BYTES + refusal.hash.length + refusal.code.length
  }

  build(more: boolean, hello: Hello | undefined): SyncMessage {
    return {
      ...(hello === undefined ? {} : { hello }),
      ranges: this.#ranges,
      lists: this.#lists,
      wants: this.#wants,
      entries: this.#entries,
      refused: this.#refused,
      more,
    }
  }
}

function positionBytes(position: Position | ListItem | undefined): number {
  return position === undefined ? 0 : PART_BYTES + utf8Length(position.bucket) + utf8Length(position.key)
}

/** An upper bound of the text's UTF-8 length that is exact for ASCII. */
function utf8Length(text: string): number {
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x80) length += unit < 0x800 ? 1 : 2
  }
  return length
}
