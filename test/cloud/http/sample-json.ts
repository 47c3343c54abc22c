/** A value that a JSON schema would take, by chance: for walking over every route without knowing any. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly minLength?: number;
}

export interface Sampler {
  /** Below 1. */
  readonly chance: () => number;
  /** An id to put where one fits; the name of the field may help. */
  readonly id: (name: string) => string;
  readonly text: (name: string) => string;
}

const identifierPattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

export function sampleJson(schema: JsonSchema, sampler: Sampler, name = ''): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return pick(schema.enum, sampler);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return sampleJson(pick(choices, sampler), sampler, name);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => sampleJson(part, sampler, name)));
  const type = Array.isArray(schema.type) ? pick(schema.type, sampler) : schema.type;
  switch (type) {
    case 'object':
      return sampleObject(schema, sampler);
    case 'array':
      return Array.from({ length: Math.max(schema.minItems ?? 0, sampler.chance() < 0.7 ? 1 : 0) }, () =>
        sampleJson(schema.items ?? {}, sampler, name),
      );
    case 'integer':
    case 'number':
      return sampleNumber(schema, sampler, name);
    case 'boolean':
      return sampler.chance() < 0.5;
    case 'null':
      return null;
    default:
      return sampleText(schema, sampler, name);
  }
}

function sampleObject(schema: JsonSchema, sampler: Sampler): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isNeeded = schema.required?.includes(name) && property.default === undefined;
    if (isNeeded || sampler.chance() < 0.4) made[name] = sampleJson(property, sampler, name);
  }
  return made;
}

function sampleNumber({ minimum = 0, maximum = 1_000_000 }: JsonSchema, sampler: Sampler, name: string): number {
  if (name === 'version') return 1;
  const span = Math.min(maximum, minimum + 1_000) - minimum;
  return minimum + Math.floor(sampler.chance() * (span + 1));
}

function sampleText(schema: JsonSchema, sampler: Sampler, name: string): string {
  if (schema.pattern === identifierPattern) return sampler.id(name);
  switch (schema.format) {
    case 'email':
      return `${sampler
        .text(name)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, '')}@example.test`;
    case 'date':
      return `2027-0${1 + Math.floor(sampler.chance() * 9)}-1${Math.floor(sampler.chance() * 10)}`;
    case 'date-time':
      return '2027-01-01T00:00:00Z';
    default:
      break;
  }
  if (schema.pattern?.includes('[0-5]\\d')) return '08:30';
  if (name === 'zone') return 'Asia/Tokyo';
  if (name === 'role') return 'staff';
  return sampler.text(name).padEnd(schema.minLength ?? 1, 'x');
}

function pick<Item>(items: readonly Item[], sampler: Sampler): Item {
  return items[Math.floor(sampler.chance() * items.length)] as Item;
}
