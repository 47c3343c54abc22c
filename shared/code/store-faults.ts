/** What is wrong with a file the gateway lives on: it stops or waits, and says which. */
import { type CodeText, text } from './code-text.ts';

export const storeFaults = {
  STORE_MISSING: text(
    ['The file or its folder does not exist.', 'ファイルまたはフォルダがありません。'],
    ['Check the data directory in the configuration.', '設定のデータフォルダを確認してください。'],
    503,
  ),
  STORE_FORBIDDEN: text(
    ['The file or its folder may not be read or written by this user.', 'ファイルまたはフォルダの権限がありません。'],
    ['Give the folder and its files to the gateway’s user.', 'ゲートウェイの利用者に権限を与えてください。'],
    503,
  ),
  STORE_READ_ONLY: text(
    ['The disk is read-only.', 'ディスクが読み取り専用です。'],
    [
      'Check the disk; a failing card often turns read-only.',
      'ディスクを確認してください。故障の前兆のことがあります。',
    ],
    503,
  ),
  STORE_FULL: text(
    ['The disk is full.', 'ディスクがいっぱいです。'],
    ['Free some space.', '空きを作ってください。'],
    503,
  ),
  STORE_DAMAGED: text(
    ['The file is damaged.', 'ファイルが壊れています。'],
    ['Keep the file; inspect the disk.', 'ファイルを保管し、ディスクを調べてください。'],
    503,
  ),
  STORE_NEWER_SCHEMA: text(
    ['A later version of the gateway wrote the file.', '新しい版のゲートウェイが書いたファイルです。'],
    ['Install that version, or restore a backup.', 'その版を導入するか、バックアップを復元してください。'],
    503,
  ),
  STORE_MIGRATION_CHANGED: text(
    ['The file was migrated by another build of this version.', '同じ版の別のビルドが変換したファイルです。'],
    ['Install a released build.', '正式なビルドを導入してください。'],
    503,
  ),
  STORE_SQLITE_TOO_OLD: text(
    ['The SQLite library could lose a commit.', 'SQLite が古く、記録を失うおそれがあります。'],
    ['Use SQLite 3.51.3 or later.', 'SQLite 3.51.3 以降を使ってください。'],
    503,
  ),
  STORE_WRONG_KEY: text(
    ['The file was written under another master key.', '別のマスターキーで書かれたファイルです。'],
    ['Put back the master key that belongs to this data.', 'このデータのマスターキーを戻してください。'],
    503,
  ),
  STORE_BUSY: text(
    ['Another program holds the file.', '別のプログラムがファイルを使っています。'],
    ['End the other program.', 'そのプログラムを終了してください。'],
    503,
  ),
  STORE_FAILED: text(
    ['The disk failed.', 'ディスクの読み書きに失敗しました。'],
    ['Check the disk.', 'ディスクを確認してください。'],
    503,
  ),
  MASTER_KEY_MISSING: text(
    ['There is no master key.', 'マスターキーがありません。'],
    ['Put it back; a new one opens nothing that is stored.', '元の鍵を戻してください。新しい鍵では開けません。'],
    503,
  ),
  MASTER_KEY_FORBIDDEN: text(
    ['The master key cannot be read or made.', 'マスターキーを読み書きできません。'],
    ['Give the file to the gateway’s user, mode 0400.', 'ゲートウェイの利用者の所有、モード 0400 にしてください。'],
    503,
  ),
  MASTER_KEY_EXPOSED: text(
    ['Others may read the master key.', 'マスターキーを他の利用者が読めます。'],
    ['Set its mode to 0400, and consider it known.', 'モードを 0400 にし、漏えいを疑ってください。'],
    503,
  ),
  MASTER_KEY_MALFORMED: text(
    ['The master key does not have 32 bytes.', 'マスターキーが 32 バイトではありません。'],
    ['Put back the right file.', '正しいファイルを戻してください。'],
    503,
  ),
  MASTER_KEY_NOT_FRESH: text(
    [
      'There is a key or data already; a new key could not open it.',
      '既に鍵またはデータがあり、新しい鍵では開けません。',
    ],
    ['Use the key that is there, or an empty data directory.', '既存の鍵か、空のデータフォルダを使ってください。'],
  ),
} as const satisfies Record<string, CodeText>;
