// The arrows of the house: main, compose -> shells -> pure -> shared. Nothing points back.
// `pure` lists the files that decide: no node:*, no npm, no clock, no I/O. Extend it as rooms are built.
const pure = [
  '^gateway/door/(?!gather-facts)',
  '^gateway/clock/trusted-clock',
  '^gateway/sync/(sync-machine|call-record|call-failure|back-off)',
  '^gateway/replica/(replica-head|row-mac|follow-|judge-|live-nonces)',
  '^gateway/journal/(entry|chain)',
  '^cloud/[^/]+/(machine|[^/]+-machine|policy|gate|derive-[^/]+)[.]ts$',
  '^cloud/gateway-sync/(number-feed|judge-|command-lifecycle|cut-batch|upload-chain)',
  // The terminal of a program, and node's own reader of its words.
  '^shared/(?!web/|command-line/)',
];
const compose = '^(gateway|cloud)/(main|compose[^/]*)[.]ts$';
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });
const owner = (library, rooms) =>
  rule(
    `one-owner-${library}`,
    { pathNot: [...rooms, '^test/'] },
    { path: `node_modules/${library}/` },
    'One room owns each library.',
  );

export default {
  forbidden: [
    rule('no-cycles', {}, { circular: true }, 'Break the cycle: move the shared idea down.'),
    rule(
      'no-orphans',
      { orphan: true, path: '^(gateway|cloud|shared|firmware-protocol)/', pathNot: '(main|config)[.]ts$' },
      {},
      'Dead file.',
    ),
    rule(
      'products-are-separate',
      { path: '^(gateway|cloud)/' },
      { path: '^(gateway|cloud)/', pathNot: '^$1/' },
      'gateway and cloud meet only in shared/contract.',
    ),
    rule(
      'shared-is-the-floor',
      { path: '^shared/' },
      { path: '^(gateway|cloud|firmware-protocol|test)/' },
      'shared imports nothing of ours.',
    ),
    rule(
      'protocol-stands-alone',
      { path: '^firmware-protocol/' },
      { path: '^(gateway|cloud|shared|test)/' },
      'Codecs know bytes, not products.',
    ),
    rule(
      'protocol-no-io',
      { path: '^firmware-protocol/' },
      { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer)$' },
      'Codecs do no I/O.',
    ),
    rule(
      'pure-no-core',
      { path: pure },
      { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
      'Pure code decides; shells act.',
    ),
    rule(
      'pure-no-npm',
      { path: pure, pathNot: ['^shared/contract/', '^shared/signed-statement', 'schedule-windows'] },
      { dependencyTypes: ['npm'], dependencyTypesNot: ['type-only'] },
      'Pure code is arithmetic on values.',
    ),
    rule(
      'pure-imports-pure',
      { path: pure },
      { path: '^(gateway|cloud)/', pathNot: pure },
      'Pure code does not know shells.',
    ),
    rule(
      'only-compose-wires-drivers',
      { path: '^gateway/', pathNot: [compose, '^gateway/device/'] },
      { path: '^gateway/device/(osdp|link|mqtt|ble|modbus)/' },
      'Drivers are known by their port.',
    ),
    rule(
      'drivers-do-not-know-each-other',
      { path: '^gateway/device/(osdp|link|mqtt|ble|modbus)/' },
      { path: '^gateway/device/(osdp|link|mqtt|ble|modbus)/', pathNot: '^gateway/device/$1/' },
      'Drivers meet in compose.',
    ),
    rule(
      'door-and-edge-meet-at-the-socket',
      { path: '^gateway/(console|sync)/' },
      { path: '^gateway/(door|journal|replica|site|device)/' },
      'Edge reaches door only through control/.',
    ),
    rule('production-never-imports-test', { pathNot: '^test/' }, { path: '^test/' }, 'Fakes stay in test/.'),
    rule(
      'no-dev-dependency',
      { pathNot: '^(test|tools)/|^(gateway/console|cloud|shared)/web/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
      'A production install would break.',
    ),
    owner('better-sqlite3', ['^gateway/store/', '^gateway/console/history']),
    owner('serialport', ['^gateway/device/serial-line']),
    owner('node-ble', ['^gateway/device/ble/']),
    owner('mqtt', ['^gateway/device/mqtt/', '^cloud/gateway-sync/', '^gateway/device/link/']),
    owner('undici', ['^gateway/sync/uplink', '^cloud/notification/']),
    owner('fastify', ['^gateway/console/', '^cloud/']),
    owner('pg', ['^cloud/database/']),
    owner('jose', ['^cloud/identity/']),
    owner('stripe', ['^cloud/payment/stripe']),
    owner('nodemailer', ['^cloud/notification/smtp']),
  ],
  options: {
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
