// Generated from schema.ts by `npm run generate`: do not edit.
// @ts-nocheck
import { codePoints } from '../../shared/json.ts';
const validate = validate10;
var stdin_default = validate10;
const pattern0 = new RegExp("^[0-9a-fA-F]{24}$", "u"), func2 = codePoints;
function validate10(data, { instancePath = "", parentData, parentDataProperty, rootData = data } = {}) {
  let vErrors = null, errors = 0;
  if (data && typeof data == "object" && !Array.isArray(data)) {
    data.limit === void 0 && (data.limit = 20), data.asc === void 0 && (data.asc = !1);
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
    if (typeof data.asc != "boolean") {
      const err4 = { instancePath: instancePath + "/asc", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err4] : vErrors.push(err4), errors++;
    }
    if (data.incident_ids !== void 0) {
      let data3 = data.incident_ids;
      if (Array.isArray(data3)) {
        if (data3.length > 100) {
          const err5 = { instancePath: instancePath + "/incident_ids", keyword: "maxItems", params: { limit: 100 } };
          vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
        }
        const len0 = data3.length;
        for (let i0 = 0; i0 < len0; i0++) {
          let data4 = data3[i0];
          if (typeof data4 == "string") {
            if (!pattern0.test(data4)) {
              const err6 = { instancePath: instancePath + "/incident_ids/" + i0, keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
              vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
            }
          } else {
            const err7 = { instancePath: instancePath + "/incident_ids/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
          }
        }
      } else {
        const err8 = { instancePath: instancePath + "/incident_ids", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
      }
    }
    if (data.query !== void 0) {
      let data5 = data.query;
      if (typeof data5 == "string") {
        if (func2(data5) > 256) {
          const err9 = { instancePath: instancePath + "/query", keyword: "maxLength", params: { limit: 256 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
        if (func2(data5) < 1) {
          const err10 = { instancePath: instancePath + "/query", keyword: "minLength", params: { limit: 1 } };
          vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
        }
      } else {
        const err11 = { instancePath: instancePath + "/query", keyword: "type", params: { type: "string" } };
        vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
      }
    }
    if (data.start_time !== void 0) {
      let data6 = data.start_time;
      if (!((typeof data6 == "bigint" || Number.isSafeInteger(data6)) && data6 >= 0 && data6 <= 99999999999n)) {
        const err12 = { instancePath: instancePath + "/start_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.end_time !== void 0) {
      let data7 = data.end_time;
      if (!((typeof data7 == "bigint" || Number.isSafeInteger(data7)) && data7 >= 0 && data7 <= 99999999999n)) {
        const err13 = { instancePath: instancePath + "/end_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
      }
    }
  } else {
    const err14 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
