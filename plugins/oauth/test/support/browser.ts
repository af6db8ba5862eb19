/** A minimal browser without scripts: cookies with paths, forms and redirects. */
export class Browser {
  readonly #cookies = new Map<string, { value: string; path: string }>();

  /** @param address what the last proxy says that its address is */
  constructor(
    readonly origin: string,
    readonly address?: string,
  ) {}

  get cookies(): string[] {
    return [...this.#cookies.keys()];
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, { value, path: '/' });
  }

  /**
   * Follows redirects as long as they stay at the origin.
   *
   * @param to a path, or an address
   * @returns the last page, or the address of a redirect to another origin
   */
  async go(
    to: string | URL,
    { follow = true, ...init }: RequestInit & { follow?: boolean } = {},
  ): Promise<Page> {
    const url = new URL(to, this.origin);
    if (url.origin !== this.origin) return { status: 0, url, text: '', headers: new Headers() };
    const headers = new Headers(init.headers);
    headers.set('Accept', 'text/html');
    headers.set('Cookie', this.#cookiesFor(url));
    if (this.address !== undefined) headers.set('X-Forwarded-For', this.address);
    const answer = await fetch(url, { ...init, redirect: 'manual', headers });
    for (const line of answer.headers.getSetCookie()) this.#keep(line);
    const text = await answer.text();
    const next = answer.headers.get('Location');
    if (next !== null && follow) return this.go(new URL(next, url));
    const at = next === null ? url : new URL(next, url);
    return { status: answer.status, url: at, text, headers: answer.headers };
  }

  /** Submits a form of a page, with some fields changed. */
  async submit(
    page: Page,
    fields: Record<string, string | string[] | undefined>,
    { follow = true }: { follow?: boolean } = {},
  ): Promise<Page> {
    const action = /<form [^>]*method="post"(?: action="([^"]*)")?/.exec(page.text)?.[1];
    const form = new URLSearchParams();
    for (const [field] of page.text.matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(field)?.[1];
      const isBox = field.includes('type="checkbox"');
      if (name === undefined || name in fields || (isBox && !field.includes(' checked'))) continue;
      form.append(name, /value="([^"]*)"/.exec(field)?.[1] ?? '');
    }
    for (const [name, values] of Object.entries(fields)) {
      for (const value of values === undefined ? [] : [values].flat()) form.append(name, value);
    }
    return this.go(action ?? page.url, { method: 'POST', body: form, follow });
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=');
    const of = (attribute: string): string | undefined =>
      attributes.find((each) => each.startsWith(`${attribute}=`))?.slice(attribute.length + 1);
    const isOver = Date.parse(of('expires') ?? '2999-01-01') < Date.now();
    if (value === '' || isOver) this.#cookies.delete(name);
    else this.#cookies.set(name, { value, path: of('path') ?? '/' });
  }

  #cookiesFor({ pathname }: URL): string {
    return [...this.#cookies]
      .filter(([, { path }]) => pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }
}

/** A page; of another origin only its address is known. */
export interface Page {
  status: number;
  url: URL;
  text: string;
  headers: Headers;
}
