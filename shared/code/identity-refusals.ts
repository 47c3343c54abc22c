/** Why somebody is not let in, or may not make somebody else what they ask. */
import { type CodeText, text } from './code-text.ts';

export const identityRefusals = {
  LOGIN_FAILED: text(
    ['The e-mail address or the password is wrong.', 'メールアドレスまたはパスワードが違います。'],
    ['Try again, or ask for a new invitation.', 'もう一度試すか、再招待を依頼してください。'],
    401,
  ),
  LOGIN_LOCKED: text(
    ['There were too many wrong passwords.', 'パスワードの誤りが続いたため、一時停止しています。'],
    ['Wait as long as Retry-After says.', 'Retry-After の時間だけお待ちください。'],
    429,
  ),
  SESSION_ENDED: text(
    ['The session has ended.', 'セッションが終了しています。'],
    ['Sign in again.', 'もう一度サインインしてください。'],
    401,
  ),
  PASSWORD_WEAK: text(
    ['The password is too short or too well known.', 'パスワードが短すぎるか、推測されやすいものです。'],
    ['Choose twelve characters or more.', '12文字以上で、推測されにくいものにしてください。'],
  ),
  EMAIL_TAKEN: text(
    ['The e-mail address belongs to somebody already.', 'このメールアドレスは登録済みです。'],
    ['Sign in with it.', 'そのアドレスでサインインしてください。'],
  ),
  OIDC_OFF: text(
    ['Signing in with another provider is not set up.', '外部プロバイダーでのサインインは設定されていません。'],
    ['Sign in with a password.', 'パスワードでサインインしてください。'],
    404,
  ),
  OIDC_FAILED: text(
    ['The sign-in provider’s answer is not valid.', '外部プロバイダーの応答が正しくありません。'],
    ['Start signing in again.', 'サインインを最初からやり直してください。'],
    401,
  ),
  OIDC_UNAVAILABLE: text(
    ['The sign-in provider does not answer.', '外部プロバイダーが応答しません。'],
    ['Try again later.', '後でもう一度試してください。'],
    503,
  ),
  USER_UNKNOWN: text(
    ['Nobody here is known by that account.', 'このアカウントの利用者は登録されていません。'],
    ['Ask for an invitation.', '招待を依頼してください。'],
    403,
  ),
  ROLE_UNKNOWN: text(
    ['There is no such role.', 'この役割はありません。'],
    [
      'Choose owner, facility_manager, staff, technician or guest.',
      'owner、facility_manager、staff、technician、guest から選んでください。',
    ],
  ),
  ROLE_OF_ONESELF: text(
    ['Nobody changes their own role.', '自分の役割は変更できません。'],
    ['Ask another owner or manager.', '他の所有者または管理者に依頼してください。'],
    403,
  ),
  ROLE_ABOVE_OWN_RANK: text(
    ['The role is above your own.', '自分より上位の役割です。'],
    ['Ask somebody of that rank.', 'その役割の人に依頼してください。'],
    403,
  ),
  LAST_OWNER: text(
    ['A facility keeps at least one owner.', '施設には所有者が少なくとも1人必要です。'],
    ['Make somebody else an owner first.', '先に別の所有者を決めてください。'],
  ),
  ZONE_UNKNOWN: text(
    ['There is no such time zone.', 'このタイムゾーンはありません。'],
    ['Use a name such as Asia/Tokyo.', 'Asia/Tokyo のような名前を使ってください。'],
  ),
  INVITATION_USED: text(
    ['Somebody else has accepted this invitation.', 'この招待は別の人が承諾しています。'],
    ['Ask for one of your own.', '自分あての招待を依頼してください。'],
  ),
  INVITATION_CLOSED: text(
    ['The invitation is no longer open.', 'この招待は終了しています。'],
    ['Ask for a new one.', '新しい招待を依頼してください。'],
  ),
  INVITATION_EMAIL_DIFFERS: text(
    ['The invitation was sent to another e-mail address.', '別のメールアドレスあての招待です。'],
    ['Sign in with the address it was sent to.', '招待されたアドレスでサインインしてください。'],
    403,
  ),
  INVITER_LOST_RANK: text(
    ['Whoever invited may no longer give this role.', '招待した人に、この役割を与える権限がなくなりました。'],
    ['Ask for a new invitation.', '新しい招待を依頼してください。'],
  ),
  TOKEN_SCOPE_TOO_WIDE: text(
    ['A token cannot permit more than its maker may do.', '自分の権限を超えるトークンは作れません。'],
    ['Choose fewer actions.', '操作を減らしてください。'],
    403,
  ),
  SEAL_BROKEN: text(
    ['A sealed value does not open under the key there is.', '封印された値を現在の鍵で開けません。'],
    ['Put back the key file that belongs to this database.', 'このデータベースの鍵ファイルを戻してください。'],
    503,
  ),
} as const satisfies Record<string, CodeText>;
