/** Returns the keys of an object that has exactly the keys of its type. */
export const keysOf = <Key extends string>(object: Readonly<Record<Key, unknown>>): Key[] =>
  // `Object.keys` returns strings, because an object may have more keys than its type.
  Object.keys(object) as Key[];
