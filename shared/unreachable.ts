/** Ends an exhaustive switch: a new member of the union fails to compile here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
