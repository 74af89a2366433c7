/** Region, and default credentials, of a DynamoDB-compatible server. DynamoDB Local accepts only letters and digits. */
export const LOCAL = 'local';

/** Whether a text can be an endpoint. `localhost:8000` is a URL, too, with the protocol `localhost:`. */
export const isEndpoint = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/**
 * The address of a DynamoDB-compatible server, `http://ACCESS_KEY_ID:SECRET@HOST:PORT`, whose credentials are percent-encoded. It prints
 * itself without them. DynamoDB Local has separate tables for each access key id, and checks no secret.
 */
export class Endpoint {
  /** Without the credentials. */
  readonly url: string;
  readonly #username: string;
  readonly #password: string;

  /** @throws TypeError, whose message does not quote the text */
  constructor(text: string) {
    if (!isEndpoint(text)) throw new TypeError('an endpoint must be a URL, such as http://localhost:8000');
    const url = new URL(text);
    this.#username = decodeURIComponent(url.username);
    this.#password = decodeURIComponent(url.password);
    url.username = '';
    url.password = '';
    this.url = url.href.replace(/\/$/, '');
  }

  get hasCredentials(): boolean {
    return this.#username !== '' || this.#password !== '';
  }

  get credentials() {
    return { accessKeyId: this.#username || LOCAL, secretAccessKey: this.#password || LOCAL };
  }

  toString(): string {
    return this.url;
  }
}
