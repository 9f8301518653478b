/**
 * Keeps something with each of many objects, for as long as that lives, as a WeakMap does. It lies in the object itself: each
 * entry of a WeakMap lengthens the pauses of the garbage collector, to a tenth of a second with some hundred thousand.
 */
export interface Memo<Owner extends object, Value> {
  /** Undefined: nothing was kept with it. */
  get(owner: Owner): Value | undefined
  set(owner: Owner, value: Value): void
}

/** Nobody else sees what a memo keeps, and objects look and compare as before. They must be extensible. */
export function createMemo<Owner extends object, Value>(): Memo<Owner, Value> {
  class Kept extends Given {
    #value: Value

    constructor(owner: Owner, value: Value) {
      super(owner)
      this.#value = value
    }

    static get(owner: object): Value | undefined {
      return #value in owner ? owner.#value : undefined
    }

    static set(owner: Owner, value: Value): void {
      if (#value in owner) owner.#value = value
      else new Kept(owner, value)
    }
  }
  return Kept
}

/** Its constructor gives the object that it was given, which so gets the private fields of a class that extends this one. */
const Given = function (owner: object) {
  return owner
} as unknown as new (
  owner: object,
) => object
