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
    if (data.is_active !== void 0 && typeof data.is_active != "boolean") {
      const err5 = { instancePath: instancePath + "/is_active", keyword: "type", params: { type: "boolean" } };
      vErrors === null ? vErrors = [err5] : vErrors.push(err5), errors++;
    }
    if (data.start_time !== void 0) {
      let data4 = data.start_time;
      if (!((typeof data4 == "bigint" || Number.isSafeInteger(data4)) && data4 >= 0 && data4 <= 99999999999n)) {
        const err6 = { instancePath: instancePath + "/start_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err6] : vErrors.push(err6), errors++;
      }
    }
    if (data.end_time !== void 0) {
      let data5 = data.end_time;
      if (!((typeof data5 == "bigint" || Number.isSafeInteger(data5)) && data5 >= 0 && data5 <= 99999999999n)) {
        const err7 = { instancePath: instancePath + "/end_time", keyword: "int64", params: {} };
        vErrors === null ? vErrors = [err7] : vErrors.push(err7), errors++;
      }
    }
    if (data.alert_severity !== void 0 && typeof data.alert_severity != "string") {
      const err8 = { instancePath: instancePath + "/alert_severity", keyword: "type", params: { type: "string" } };
      vErrors === null ? vErrors = [err8] : vErrors.push(err8), errors++;
    }
    if (data.alert_ids !== void 0) {
      let data7 = data.alert_ids;
      if (Array.isArray(data7)) {
        if (data7.length > 100) {
          const err9 = { instancePath: instancePath + "/alert_ids", keyword: "maxItems", params: { limit: 100 } };
          vErrors === null ? vErrors = [err9] : vErrors.push(err9), errors++;
        }
        const len0 = data7.length;
        for (let i0 = 0; i0 < len0; i0++) {
          let data8 = data7[i0];
          if (typeof data8 == "string") {
            if (!pattern0.test(data8)) {
              const err10 = { instancePath: instancePath + "/alert_ids/" + i0, keyword: "pattern", params: { pattern: "^[0-9a-fA-F]{24}$" } };
              vErrors === null ? vErrors = [err10] : vErrors.push(err10), errors++;
            }
          } else {
            const err11 = { instancePath: instancePath + "/alert_ids/" + i0, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err11] : vErrors.push(err11), errors++;
          }
        }
      } else {
        const err12 = { instancePath: instancePath + "/alert_ids", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err12] : vErrors.push(err12), errors++;
      }
    }
    if (data.alert_keys !== void 0) {
      let data9 = data.alert_keys;
      if (Array.isArray(data9)) {
        if (data9.length > 100) {
          const err13 = { instancePath: instancePath + "/alert_keys", keyword: "maxItems", params: { limit: 100 } };
          vErrors === null ? vErrors = [err13] : vErrors.push(err13), errors++;
        }
        const len1 = data9.length;
        for (let i1 = 0; i1 < len1; i1++) {
          let data10 = data9[i1];
          if (typeof data10 == "string") {
            if (func2(data10) > 255) {
              const err14 = { instancePath: instancePath + "/alert_keys/" + i1, keyword: "maxLength", params: { limit: 255 } };
              vErrors === null ? vErrors = [err14] : vErrors.push(err14), errors++;
            }
            if (func2(data10) < 1) {
              const err15 = { instancePath: instancePath + "/alert_keys/" + i1, keyword: "minLength", params: { limit: 1 } };
              vErrors === null ? vErrors = [err15] : vErrors.push(err15), errors++;
            }
          } else {
            const err16 = { instancePath: instancePath + "/alert_keys/" + i1, keyword: "type", params: { type: "string" } };
            vErrors === null ? vErrors = [err16] : vErrors.push(err16), errors++;
          }
        }
      } else {
        const err17 = { instancePath: instancePath + "/alert_keys", keyword: "type", params: { type: "array" } };
        vErrors === null ? vErrors = [err17] : vErrors.push(err17), errors++;
      }
    }
  } else {
    const err18 = { instancePath, keyword: "type", params: { type: "object" } };
    vErrors === null ? vErrors = [err18] : vErrors.push(err18), errors++;
  }
  return validate10.errors = vErrors, errors === 0;
}
export {
  stdin_default as default,
  validate
};
