/** Why a request is not served, whatever it asks for. */
import { type CodeText, text } from './code-text.ts';

export const requestRefusals = {
  REQUEST_INVALID: text(
    ['Something in the request is missing, unknown or out of bounds.', '要求の内容に誤りがあります。'],
    ['Correct the fields that are named.', '示された項目を直してください。'],
  ),
  BODY_MALFORMED: text(
    ['The body is not well-formed JSON.', '本文が正しい JSON ではありません。'],
    ['Send JSON in UTF-8.', 'UTF-8 の JSON で送ってください。'],
    400,
  ),
  BODY_TOO_LARGE: text(
    ['The body is larger than is accepted.', '本文が大きすぎます。'],
    ['Send less at once.', '分けて送ってください。'],
    413,
  ),
  BODY_TYPE_UNSUPPORTED: text(
    ['The body is of a kind that is not understood.', '本文の形式に対応していません。'],
    ['Send application/json.', 'application/json で送ってください。'],
    415,
  ),
  CURSOR_INVALID: text(
    ['The cursor was not given out for this list.', 'このリストのカーソルではありません。'],
    ['Start again without a cursor.', 'カーソルなしで最初から取得してください。'],
    400,
  ),
  NOT_FOUND: text(
    ['There is no such thing here.', '見つかりません。'],
    ['Check the address and the id.', 'アドレスと ID を確認してください。'],
    404,
  ),
  NOT_AUTHENTICATED: text(
    ['Nobody is signed in.', 'サインインが必要です。'],
    ['Sign in, or send a valid token.', 'サインインするか、有効なトークンを送ってください。'],
    401,
  ),
  NOT_AUTHORIZED: text(
    ['This is not permitted in your role.', 'この操作の権限がありません。'],
    ['Ask somebody whose role permits it.', '権限のある人に依頼してください。'],
    403,
  ),
  VERSION_STALE: text(
    ['It was changed by somebody else meanwhile.', 'その間に他の人が変更しました。'],
    ['Read it again, then repeat the change.', '読み直してから、変更をやり直してください。'],
    409,
  ),
  ALREADY_EXISTS: text(
    ['There is one like it already.', '同じものがすでにあります。'],
    ['Use the one there is, or choose another name.', '既存のものを使うか、別の名前にしてください。'],
    409,
  ),
  REFERENCE_UNKNOWN: text(
    ['Something that is referred to does not exist here.', '参照先が見つかりません。'],
    ['Check the ids in the request.', '要求の ID を確認してください。'],
  ),
  STILL_REFERENCED: text(
    ['Something else still depends on it.', '他のものがまだ使っています。'],
    ['Remove what depends on it first.', '先に、使っているものを外してください。'],
  ),
  IDEMPOTENCY_KEY_MISSING: text(
    ['A change needs the header Idempotency-Key.', '変更には Idempotency-Key ヘッダーが必要です。'],
    ['Send a new random key with each new change.', '変更ごとに新しいキーを付けてください。'],
    400,
  ),
  IDEMPOTENCY_KEY_REUSED: text(
    ['The same key was used for another request.', '同じキーが別の要求で使われています。'],
    ['Send a new key with a new request.', '新しい要求には新しいキーを付けてください。'],
  ),
  IDEMPOTENCY_IN_PROGRESS: text(
    ['The same request is being served right now.', '同じ要求を処理中です。'],
    ['Repeat it in a moment.', '少し待ってから再送してください。'],
    409,
  ),
  RATE_LIMITED: text(
    ['There were too many requests.', '要求が多すぎます。'],
    ['Wait as long as Retry-After says.', 'Retry-After の時間だけお待ちください。'],
    429,
  ),
  SHUTTING_DOWN: text(
    ['The server is going down for a moment.', 'サーバーを停止しています。'],
    ['Repeat the request in a moment.', '少し待ってから再送してください。'],
    503,
  ),
  REQUEST_FAILED: text(
    ['The request failed because of a fault of ours.', '内部の不具合により処理できませんでした。'],
    ['Report it with the request’s id.', '要求の ID を添えて報告してください。'],
    500,
  ),
} as const satisfies Record<string, CodeText>;
