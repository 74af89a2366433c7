// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../../shared/json.ts';
const validate = validate10;
var stdin_default = validate10;
const func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    data.limit === void 0 && (data.limit = 20);
    let data0 = data.limit;
    if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
      const err0 = { instancePath: instancePath + "/limit", keyword: "type", params: { type: "integer" } };
      vErrors === null ? vErrors = [err0] : vErrors.push(err0), errors++;
    }
    if (typeof data0 == "number" && isFinite(data0)) {
      if (data0 > 100 || isNaN(data0)) {
        const err1 = { instancePath: instancePath + "/limit", keyword: "maximum", params: { comparison: "<=", limit: 100 } };
        vErrors === null ? vErrors = [err1] : vErrors.push(err1), errors++;
      }
      if (data0 < 1 || isNaN(data0)) {
        const err2 = { instancePath: instancePath + "/limit", keyword: "minimum", params: { comparison: ">=", limit: 1 } };
        vErrors === null ? vErrors = [err2] : vErrors.push(err2), errors++;
      }
    }
    if (data.search_after_ctx !== void 0 && typeof data.search_after_ctx != "string") {
      const err3 = { instancePath: instancePath + "/search_after_ctx", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err3] : vErrors.push(err3), errors++;
    }
    if (data.query !== void 0) {
      let data2 = data.query;
      if (typeof data2 == "string") {
        if (func2(data2) > 256) {
          const err4 = { instancePath: instancePath + "/query", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
        }
        if (func2(data2) < 1) {
          const err5 = { instancePath: instancePath + "/query", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
        }
      } else {
        const err6 = { instancePath: instancePath + "/query", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
  } else {
    const err7 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
