/**
 * Calls the functions of `npm start`, which have production's time limits, and again where a busy machine answers 503: a few times
 * in all, lest a failure hide behind that.
 * @returns sends what it is given
 */
export function whileBusy(most = 4) {
  let sentAgain = 0;
  return async <Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> => {
    let answer = await send();
    for (; answer.status === 503 && sentAgain < most; sentAgain += 1) answer = await send();
    return answer;
  };
}
