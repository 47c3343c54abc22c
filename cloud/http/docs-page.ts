/** The API as a page: made from the OpenAPI document, without a script, so that it reads offline and under a strict CSP. */
import { type Code, codeHttpStatus, codeRemedy, codeTables, codeText, isCode, type Language } from '#shared/code.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags?: readonly string[];
  readonly 'x-access'?: string;
  readonly 'x-refusals'?: readonly string[];
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Listed extends Operation {
  readonly method: string;
  readonly path: string;
}

const words = {
  en: {
    language: 'en',
    intro: 'Every change needs a header <code>Idempotency-Key</code>. Every refusal is a problem+json with a code.',
    document: 'The same as an OpenAPI 3.1 document',
    access: 'access',
    codes: 'Codes',
  },
  ja: {
    language: 'ja',
    intro:
      '変更には <code>Idempotency-Key</code> ヘッダーが必要です。拒否はすべてコード付きの problem+json で返ります。',
    document: '同じ内容の OpenAPI 3.1 文書',
    access: '権限',
    codes: 'コード一覧',
  },
} as const;

export function docsPage(document: OpenApiDocument, language: Language): string {
  const say = words[language];
  const operations = listed(document);
  const tags = [...new Set(operations.map(tagOf))];
  const sections = tags.map((tag) => {
    const rows = operations.filter((operation) => tagOf(operation) === tag).map((row) => operationText(row, language));
    return `<section><h2>${html(tag)}</h2>${rows.join('')}</section>`;
  });
  return `<!doctype html><html lang="${say.language}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>${html(document.info.title)} API</title>
<link rel="stylesheet" href="/v1/docs.css"></head><body><main>
<h1>${html(document.info.title)} API <small>${html(document.info.version)}</small></h1>
<p>${say.intro} <a href="/v1/openapi.json">${say.document}</a>.</p>
${sections.join('\n')}
<section><h2>${say.codes}</h2><dl>${codeList(language)}</dl></section>
</main></body></html>`;
}

const tagOf = (operation: Operation): string => operation.tags?.[0] ?? '';

function listed({ paths = {} }: OpenApiDocument): readonly Listed[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

function operationText(operation: Listed, language: Language): string {
  const refusals = (operation['x-refusals'] ?? []).filter(isCode);
  const codes = refusals.map((code) => `<a href="#${code}"><code>${code}</code></a>`).join(' ');
  return `<article id="${html(operation.operationId)}"><h3><b>${operation.method}</b> <code>${html(operation.path)}</code></h3>
<p>${html(operation.summary)} <small>${words[language].access}: ${html(operation['x-access'] ?? '')}</small> ${codes}</p></article>`;
}

function codeList(language: Language): string {
  const codes = codeTables.flatMap((table) => Object.keys(table)).filter(isCode);
  return codes
    .map(
      (code: Code) => `<dt id="${code}"><code>${code}</code> ${codeHttpStatus(code)}</dt>
<dd>${html(codeText(code, language))} ${html(codeRemedy(code, language))}</dd>`,
    )
    .join('');
}

const html = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const docsStyle = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0}main{max-width:60rem;margin:auto;padding:1rem}
h3{font-size:1rem;margin:1.2rem 0 0;overflow-wrap:anywhere}h3 b{display:inline-block;min-width:4.5rem}
article p{margin:.2rem 0 0 4.8rem}small{opacity:.75}dt{margin-top:.6rem}dd{margin-left:1.5rem}`;
