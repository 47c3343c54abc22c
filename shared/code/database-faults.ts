/** What is wrong with the cloud's database: requests wait or the program stops, and says which. */
import { type CodeText, text } from './code-text.ts';

export const databaseFaults = {
  DATABASE_UNAVAILABLE: text(
    ['The database does not answer; nothing was changed.', 'データベースが応答しません。変更はされていません。'],
    ['Repeat the request later.', '後で再送してください。'],
    503,
  ),
  DATABASE_BUSY: text(
    ['The database was too busy; nothing was changed.', 'データベースが混み合っています。変更はされていません。'],
    ['Repeat the request in a moment.', '少し待ってから再送してください。'],
    503,
  ),
  DATABASE_NEWER_SCHEMA: text(
    ['A later version has changed the database.', '新しい版が変更したデータベースです。'],
    ['Install that version, or restore a backup.', 'その版を導入するか、バックアップを復元してください。'],
    503,
  ),
  DATABASE_MIGRATION_CHANGED: text(
    [
      'A migration that is in the database differs from the one here.',
      '適用済みのマイグレーションが、手元のものと異なります。',
    ],
    ['Install a released build; never edit a landed migration.', '正式なビルドを導入してください。'],
    503,
  ),
  DATABASE_MIGRATION_ROWS: text(
    ['A migration touched another number of rows than it counted.', 'マイグレーションの対象件数が一致しません。'],
    ['Nothing was changed; look at the rows it names.', '変更はされていません。示された行を確認してください。'],
    503,
  ),
} as const satisfies Record<string, CodeText>;
