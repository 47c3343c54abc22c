/**
 * Bundles the gateway into a folder of plain JavaScript that needs nothing but Node: the program, each worker's entry
 * beside it, the migrations it reads as files, and the native parts of its libraries.
 *
 * What a command does not use is in a chunk of its own and costs it nothing.
 * Not promised: any machine but Linux with glibc, on x64 or arm64.
 */

import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const entries = [
  'gateway/main.ts',
  'gateway/journal/journal-thread.ts',
  'gateway/replica/replica-thread.ts',
  'gateway/replica/pin-thread.ts',
  'gateway/operate/verify-thread.ts',
  'gateway/store/check-thread.ts',
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

/** Node's own modules, taken directly: each `import` of one costs a start half a millisecond. */
const builtins: Plugin = {
  name: 'builtins',
  setup: ({ onResolve, onLoad }) => {
    const isBuiltin = new Set(builtinModules);
    onResolve({ filter: /^(node:)?[a-z]/ }, ({ path }) =>
      path.startsWith('node:') || isBuiltin.has(path)
        ? { path: path.replace(/^node:/, ''), namespace: 'builtin', sideEffects: false }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
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

/**
 * @param more further entries, for programs that use the same parts.
 * @returns the folder's main program.
 */
export async function bundleGateway(folder: string, more: readonly string[] = []): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [...entries, ...more].map((path) => ({ in: path, out: basename(path, '.ts') })),
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    plugins: [builtins, nativeParts],
    banner: { js: banner },
    logLevel: 'warning',
  });
  cpSync(join(root, 'gateway/store/migrations'), join(folder, 'migrations'), { recursive: true });
  copyNativeParts(folder);
  return join(folder, 'main.js');
}

function copyNativeParts(folder: string): void {
  mkdirSync(join(folder, 'native'));
  for (const { name, builds } of natives) {
    for (const [arch, build] of Object.entries(builds))
      cpSync(join(root, 'node_modules', build), join(folder, 'native', `${name}-linux-${arch}.node`));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bundleGateway(join(root, 'dist')));
