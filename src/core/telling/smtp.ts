/** The address of a mail server, as a config writes it. */

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: from the first byte; `starttls`: asked for, and nothing is sent without it; `none`: the network may read along. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly user: string | undefined;
  readonly password: string | undefined;
}

interface Problem {
  readonly problem: string;
  readonly hint: string;
}

const example = 'such as smtps://USER:PASSWORD@mail.example.com or smtp://mail.example.com:587';

/**
 * `smtps://` is TLS from the start (port 465), `smtp://` asks for it with STARTTLS (port 587). Without TLS goes only what stays on
 * this machine, or where the address says `?tls=none`; `?tls=starttls` wants it on this machine too.
 */
export function parseSmtp(text: string): SmtpServer | Problem {
  const url = URL.parse(text);
  const isImplicit = url?.protocol === 'smtps:';
  if (url === null || (!isImplicit && url.protocol !== 'smtp:') || url.hostname === '') {
    return { problem: 'expected the address of a mail server', hint: example };
  }
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '') {
    return { problem: 'something behind the host of the mail server', hint: `end the address there, ${example}` };
  }
  const asked = /^\?tls=(none|starttls)$/.exec(url.search)?.[1];
  if (url.search !== '' && (asked === undefined || isImplicit)) {
    const hint = 'only smtp:// may have one: ?tls=none sends without TLS, ?tls=starttls never does';
    return { problem: 'a query that no mail server has', hint };
  }
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (user === undefined || password === undefined) {
    return { problem: 'user or password of the mail server are not encoded', hint: 'write % as %25 and @ as %40' };
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    host,
    port: url.port === '' ? (isImplicit ? 465 : 587) : Number(url.port),
    tls: isImplicit
      ? 'implicit'
      : ((asked as 'none' | 'starttls' | undefined) ?? (isLoopback(host) ? 'none' : 'starttls')),
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : password,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The platform throws a URIError for a wrong encoding.
    return undefined;
  }
}

/** Whether a host is this machine, without asking anybody. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host);
}
