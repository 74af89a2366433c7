/** Maximum retries of all calls together: more would hide a failure. */
const MAX_RETRIES = 4;

/**
 * For calls to `npm start`, whose functions have production's time limits.
 * @returns a function that sends a call, and sends it again when the answer is 503 because the machine is busy
 */
export function whileBusy() {
  let retries = 0;
  return async <Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> => {
    let answer = await send();
    for (; answer.status === 503 && retries < MAX_RETRIES; retries += 1) answer = await send();
    return answer;
  };
}
